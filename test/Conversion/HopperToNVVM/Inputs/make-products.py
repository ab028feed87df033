#!/usr/bin/env python3
"""Writes one kernel for each form of hopper.wgmma to standard output.

A kernel computes C = A B for one block of threads. A and B stand in memory as
the product stores them, row by row; they go to shared memory by `copy` (every
thread by hopper.address) or `tma` (bulk tensor loads), or A to registers. C is
written from the accumulators. An argument selects kernels whose names contain
it. Names say all of a kernel:

    product_bf16_a128t_b64n_m64n64k64_copy     A: swizzle 128, transpose_a;
                                               B: swizzle 64, not transpose_b
    product_bf16_afrag_b128t_m128n64k64_copy   A: fragment
"""
import itertools
import sys


class Kernel:
    def __init__(self, element, a, b, m, n, k, way):
        self.element, self.a, self.b = element, a, b
        self.m, self.n, self.k, self.way = m, n, k, way
        self.lines, self.count = [], 0

    @property
    def name(self):
        return (f"product_{self.element}_a{self.a}_b{self.b}"
                f"_m{self.m}n{self.n}k{self.k}_{self.way}")

    def emit(self, text):
        self.count += 1
        self.lines.append(f"    %v{self.count} = {text}")
        return f"%v{self.count}"

    def line(self, text):
        self.lines.append("    " + text)

    def i32(self, value):
        return self.emit(f"arith.constant {value} : i32")

    def op(self, name, *values):
        return self.emit(f"arith.{name} {', '.join(values)} : i32")

    def offset(self, pointer, elements, size, space=""):
        return self.emit(f"llvm.getelementptr {pointer}[{elements}] : "
                         f"(!llvm.ptr{space}, i32) -> !llvm.ptr{space}, {size}")

    # Shape of an operand as it is stored, and its layout.
    def stored(self, operand):
        form = self.a if operand == "a" else self.b
        shape = (self.m, self.k) if operand == "a" else (self.k, self.n)
        return shape[::-1] if form.endswith("t") else shape

    def layout(self, operand):
        form = self.a if operand == "a" else self.b
        rows, cols = self.stored(operand)
        return f"<{rows}x{cols}x{self.element}, swizzle = {form[:-1]}>"

    def fits(self):
        """Panels are whole, and a row of K is."""
        for operand, form in (("a", self.a), ("b", self.b)):
            if form != "frag" and self.stored(operand)[1] * 2 % int(form[:-1]):
                return False
        return True

    def copy(self, operand, place):
        rows, cols = self.stored(operand)
        self.line(f"scf.for %e{operand} = %tid to {self.i32(rows * cols)} "
                  "step %threads : i32 {")
        r = self.op("divui", f"%e{operand}", self.i32(cols))
        c = self.op("remui", f"%e{operand}", self.i32(cols))
        source = self.offset(f"%{operand}", f"%e{operand}", self.element)
        value = self.emit(f"llvm.load {source} : !llvm.ptr -> {self.element}")
        target = self.emit(f"hopper.address {place}[{r}, {c}] in "
                           f"{self.layout(operand)}")
        self.line(f"llvm.store {value}, {target} : {self.element}, !llvm.ptr<3>")
        self.line("}")

    def load_panels(self, operand, place, barrier):
        form = self.a if operand == "a" else self.b
        rows, cols = self.stored(operand)
        width = int(form[:-1]) // 2
        for panel in range(cols // width):
            start = self.emit(f"llvm.getelementptr {place}[{panel * rows * width * 2}] "
                              ": (!llvm.ptr<3>) -> !llvm.ptr<3>, i8")
            cluster = self.emit(f"llvm.addrspacecast {start} : !llvm.ptr<3> to !llvm.ptr<7>")
            self.line("nvvm.cp.async.bulk.tensor.shared.cluster.global "
                      f"{cluster}, %map{operand}, {barrier}, "
                      f"box[{self.i32(panel * width)}, %zero] : !llvm.ptr<7>, !llvm.ptr")

    def load(self, places):
        if self.way == "copy":
            for operand, place in places.items():
                self.copy(operand, place)
            self.line("nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, "
                      "space = #nvvm.shared_space<cta>}")
            self.line("nvvm.barrier0")
            return
        barrier = self.emit("llvm.getelementptr %base[131072] : "
                            "(!llvm.ptr<3>) -> !llvm.ptr<3>, i8")
        first = self.emit("arith.cmpi eq, %tid, %zero : i32")
        self.line(f"scf.if {first} {{")
        self.line(f"nvvm.mbarrier.init {barrier}, {self.i32(1)} : !llvm.ptr<3>, i32")
        self.line("nvvm.fence.mbarrier.init")
        self.line("}")
        self.line("nvvm.barrier0")
        self.line(f"scf.if {first} {{")
        total = sum(2 * r * c for r, c in map(self.stored, places))
        self.line(f"nvvm.mbarrier.arrive.expect_tx {barrier}, {self.i32(total)} "
                  ": !llvm.ptr<3>, i32")
        for operand, place in places.items():
            self.load_panels(operand, place, barrier)
        self.line("}")
        self.line(f"nvvm.mbarrier.try_wait.parity {barrier}, %zero, "
                  f"{self.i32(1000000)} : !llvm.ptr<3>, i32, i32")

    def position(self, index, width):
        """Row and column of an element of a fragment with `width` columns."""
        block, e = divmod(index, width // 2)
        j, q = divmod(e, 4)
        row = self.op("addi", "%row", self.i32(64 * block + 8 * (q // 2)))
        return row, self.op("addi", "%col", self.i32(8 * j + q % 2))

    def fragment(self):
        length = self.m * self.k // 128
        vector = f"vector<{length}x{self.element}>"
        value = self.emit(f"llvm.mlir.poison : {vector}")
        for i in range(length):
            row, col = self.position(i, self.k)
            place = self.op("addi", self.op("muli", row, self.i32(self.k)), col)
            source = self.offset("%a", place, self.element)
            element = self.emit(f"llvm.load {source} : !llvm.ptr -> {self.element}")
            value = self.emit(f"llvm.insertelement {element}, "
                              f"{value}[{self.i32(i)} : i32] : {vector}")
        return value, vector

    def product(self, places):
        transpose = {o: " transpose_" + o if f.endswith("t") else ""
                     for o, f in (("a", self.a), ("b", self.b))}
        if self.a == "frag":
            a, kind = self.fragment()
            left = a
        else:
            left, kind = f"{places['a']} in {self.layout('a')}{transpose['a']}", "!llvm.ptr<3>"
        length = self.m * self.n // 128
        vector = f"vector<{length}xf32>"
        right = f"{places['b']} in {self.layout('b')}{transpose['b']}"
        flight = self.emit(f"hopper.wgmma {left}, {right} : {kind}, {vector}")
        if self.a == "frag":
            self.line(f"%r:2 = hopper.wait pending 0 for {flight}, {a} : {vector}, {kind}")
            return "%r#0", vector
        return self.emit(f"hopper.wait pending 0 for {flight} : {vector}"), vector

    def write(self):
        operands = ["b"] if self.a == "frag" else ["a", "b"]
        self.line("%zero = arith.constant 0 : i32")
        self.line("%threads = arith.constant 128 : i32")
        self.line("%base = llvm.mlir.addressof @shared : !llvm.ptr<3>")
        self.line("%tid = nvvm.read.ptx.sreg.tid.x : i32")
        warp = self.op("divui", "%tid", self.i32(32))
        lane = self.op("remui", "%tid", self.i32(32))
        top = self.op("muli", warp, self.i32(16))
        self.line(f"%row = arith.addi {top}, "
                  f"{self.op('divui', lane, self.i32(4))} : i32")
        pair = self.op("remui", lane, self.i32(4))
        self.line(f"%col = arith.muli {pair}, {self.i32(2)} : i32")
        places = {o: self.emit(f"llvm.getelementptr %base[{65536 * (o == 'b')}] : "
                               "(!llvm.ptr<3>) -> !llvm.ptr<3>, i8") for o in operands}
        self.load(places)
        result, vector = self.product(places)
        for i in range(self.m * self.n // 128):
            row, col = self.position(i, self.n)
            place = self.op("addi", self.op("muli", row, self.i32(self.n)), col)
            element = self.emit(f"llvm.extractelement {result}"
                                f"[{self.i32(i)} : i32] : {vector}")
            target = self.offset("%c", place, "f32")
            self.line(f"llvm.store {element}, {target} : f32, !llvm.ptr")
        self.print(operands)

    def print(self, operands):
        maps, parameters = [], []
        if self.way == "tma":
            for number, operand in enumerate(["a", "b"]):
                if operand not in operands:
                    continue
                rows, cols = self.stored(operand)
                form = self.a if operand == "a" else self.b
                parameters.append(
                    f"%map{operand}: !llvm.ptr {{llvm.byval = !llvm.array<128 x i8>, "
                    "nvvm.grid_constant, llvm.align = 64 : i64}")
                maps.append(
                    f"{{view = {number}, element = {self.element}, "
                    f"dims = affine_map<() -> ({cols}, {rows})>, "
                    f"strides = affine_map<() -> ({2 * cols})>, "
                    f"box = array<i64: {int(form[:-1]) // 2}, {rows}>, "
                    f"swizzle = {form[:-1]}}}")
        parameters += [f"%{name}: !llvm.ptr" for name in ("a", "b", "c", "scratch")]
        print(f"  llvm.func @{self.name}({', '.join(parameters)}) attributes {{\n"
              "      nvvm.kernel, mmx.kernel, mmx.threads = 128, mmx.shared = 131080,\n"
              f"      mmx.grid = affine_map<() -> (1)>, "
              f"mmx.tensor_maps = [{', '.join(maps)}]}} {{")
        print("\n".join(self.lines))
        print("    llvm.return\n  }")


def main():
    swizzled = [f"{s}{t}" for s in (128, 64, 32) for t in "nt"]
    forms = [("bf16", a, b, 64, 64, 64, "copy")
             for a, b in itertools.product(swizzled, swizzled)]
    forms += [("bf16", "frag", b, 64, 64, 64, "copy") for b in swizzled]
    # More than one panel, more than one block of rows, other widths, f16.
    forms += [("bf16", a, b, 128, 128, 128, way)
              for a in ("128n", "128t", "64n", "64t", "32n", "32t")
              for b in ("128n", "128t", "64n", "64t", "32n", "32t")
              for way in ("copy", "tma") if a[:-1] == b[:-1]]
    forms += [("bf16", "frag", b, 128, 64, 128, "tma") for b in ("128n", "128t")]
    forms += [("bf16", "128n", "32t", 64, 8, 64, "copy"),
              ("bf16", "128n", "128n", 64, 256, 64, "copy"),
              ("bf16", "frag", "128t", 64, 256, 64, "copy"),
              ("f16", "128n", "128t", 64, 64, 64, "copy"),
              ("f16", "frag", "128n", 64, 64, 64, "copy")]
    print('llvm.mlir.global external @shared() {addr_space = 3 : i32, '
          'alignment = 1024 : i64} : !llvm.array<0 x i8>')
    for form in forms:
        kernel = Kernel(*form)
        if not kernel.fits():
            raise SystemExit(f"{kernel.name} does not fit")
        if all(part in kernel.name for part in sys.argv[1:]):
            kernel.write()


if __name__ == "__main__":
    main()
