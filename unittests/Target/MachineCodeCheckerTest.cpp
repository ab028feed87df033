//===- MachineCodeCheckerTest.cpp - Registers of products in flight -------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Target/MachineCodeChecker.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mmx;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

/// A loop over products whose left operand is loaded for the next iteration
/// while they run; `load` is the register that the assembler chose. Shortened
/// from what ptxas 13.0 made of a kernel without a use after the wait.
std::string makeLoop(const std::string &load) {
  return R"(
.text.state:
        /*0000*/                   LDSM.16.MT88.4 R100, [R20] ;
.L_x_0:
        /*0010*/                   BSSY B0, `(.L_x_2) ;
        /*0020*/                   FMUL R24, R24, R8.reuse ;
        /*0030*/                   WARPGROUP.ARRIVE ;
        /*0040*/                   HGMMA.64x128x16.F32.BF16 R24, R100, gdesc[UR8].tnspB, R24 ;
        /*0050*/                   HGMMA.64x128x16.F32.BF16 R24, R96, gdesc[UR4].tnspB, R24, gsb0 ;
        /*0060*/              @!P1 BRA `(.L_x_1) ;
        /*0070*/                   LDSM.16.MT88.4 )" +
         load + R"(, [R20+0x800] ;
.L_x_1:
        /*0080*/                   BSYNC B0 ;
.L_x_2:
        /*0090*/                   STSM.16.M88.4 [R21], R4 ;
        /*00a0*/                   WARPGROUP.DEPBAR.LE gsb0, 0x0 ;
        /*00b0*/               @P0 STS.128 [R0], R100 ;
        /*00c0*/               @P2 BRA `(.L_x_0) ;
        /*00d0*/                   STG.E desc[UR6][R2.64], R24 ;
        /*00e0*/                   EXIT ;
)";
}

TEST(MachineCodeChecker, OperandLoadedWhileItIsRead) {
  EXPECT_THAT(
      findOperandsInFlight(makeLoop("R100")),
      ElementsAre("state: 'LDSM.16.MT88.4 R100, [R20+0x800]' at 0x70 writes "
                  "R100, which 'HGMMA.64x128x16.F32.BF16 R24, R100, "
                  "gdesc[UR8].tnspB, R24' at 0x40 still reads; expected "
                  "WARPGROUP.DEPBAR between them"));
}

TEST(MachineCodeChecker, AllRegistersOfAnOperandCount) {
  // R96 to R99 and R100 to R103 are read; four registers are loaded.
  EXPECT_THAT(findOperandsInFlight(makeLoop("R93")),
              ElementsAre(HasSubstr("writes R96")));
  EXPECT_THAT(findOperandsInFlight(makeLoop("R103")),
              ElementsAre(HasSubstr("writes R103")));
  EXPECT_THAT(findOperandsInFlight(makeLoop("R92")), IsEmpty());
  EXPECT_THAT(findOperandsInFlight(makeLoop("R104")), IsEmpty());
}

TEST(MachineCodeChecker, Accumulators) {
  // 64 x 128 are R24 to R87.
  EXPECT_THAT(findOperandsInFlight(makeLoop("R85")),
              ElementsAre(HasSubstr("writes R85, which")));
}

/// Two groups, of which the first reads R8; `pending` may stay in flight when
/// R8 is written and the accumulators of the first group are read.
std::string makeGroups(const std::string &pending, const std::string &source) {
  return R"(
		Function : two
        /*0000*/                   HGMMA.64x8x16.F32.BF16 R24, R8, gdesc[UR8], RZ, !UPT, gsb0 ;  /* 0x0060000800187df0 */
                                                                                               /* 0x000fe2000c701818 */
        /*0010*/                   HGMMA.64x8x16.F32.BF16 R28, R12, gdesc[UR8], RZ, !UPT, gsb0 ; /* 0x0060000800187df0 */
        /*0020*/                   WARPGROUP.DEPBAR.LE gsb0, )" +
         pending + R"( ;     /* 0x00008000ff007992 */
        /*0030*/                   MOV R8, R1 ;                    /* 0x0000000100087202 */
        /*0040*/               @P0 BRA 0x60 ;                      /* 0x0000000000080947 */
        /*0050*/                   FADD R2, R2, R)" +
         source + R"( ;                /* 0x0000001802027221 */
        /*0060*/                   EXIT ;                          /* 0x000000000000794d */
)";
}

TEST(MachineCodeChecker, GroupsRetireInOrder) {
  EXPECT_THAT(findOperandsInFlight(makeGroups("0x1", "24")), IsEmpty());
  EXPECT_THAT(findOperandsInFlight(makeGroups("0x0", "28")), IsEmpty());
  EXPECT_THAT(findOperandsInFlight(makeGroups("0x1", "31")),
              ElementsAre(HasSubstr("two: 'FADD R2, R2, R31' at 0x50 reads "
                                    "R31, which 'HGMMA.64x8x16.F32.BF16 R28")));
  EXPECT_THAT(findOperandsInFlight(makeGroups("0x2", "0")),
              ElementsAre(HasSubstr("'MOV R8, R1' at 0x30 writes R8")));
}

TEST(MachineCodeChecker, PathsWithoutTheWait) {
  EXPECT_THAT(findOperandsInFlight(R"(
.text.path:
        /*0000*/                   HGMMA.64x8x16.F32.BF16 R24, R8, gdesc[UR8], RZ, !UPT, gsb0 ;
        /*0010*/               @P0 BRA `(.L_x_0) ;
        /*0020*/                   WARPGROUP.DEPBAR.LE gsb0, 0x0 ;
.L_x_0:
        /*0030*/                   SHFL.BFLY PT, R9, R2, 0x1, 0x1f ;
        /*0040*/                   EXIT ;
)"),
              ElementsAre(HasSubstr("writes R9")));
}

TEST(MachineCodeChecker, Disassembler) {
  auto listing = disassemble("/dev/null", {});
  ASSERT_FALSE(listing);
  EXPECT_THAT(llvm::toString(listing.takeError()),
              HasSubstr("/dev/null failed"));
}

} // namespace
