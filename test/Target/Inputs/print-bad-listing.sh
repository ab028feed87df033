#!/bin/sh
# Stands for a disassembler: the assembler has loaded the next operand into
# registers that a product in flight reads.
cat <<'LISTING'
.text.gemm:
        /*0000*/                   HGMMA.64x64x16.F32.BF16 R24, R88, gdesc[UR4], R24, gsb0 ;
        /*0010*/                   LDSM.16.MT88.4 R88, [R20] ;
        /*0020*/                   WARPGROUP.DEPBAR.LE gsb0, 0x0 ;
        /*0030*/                   EXIT ;
LISTING
