//===- TileSchedule.td - The schedule of a kernel as data --*- tablegen -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_DIALECT_TILE_TILESCHEDULE_TD
#define MMX_DIALECT_TILE_TILESCHEDULE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mmx/Dialect/Tile/TileDialect.td"

class Tile_Attr<string name, string attrMnemonic> : AttrDef<Tile_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Tile_InstanceMode : I32EnumAttr<"InstanceMode",
    "how the instances of a role share its work",
    [I32EnumAttrCase<"One", 0, "one">, I32EnumAttrCase<"Split", 1, "split">,
     I32EnumAttrCase<"Alternate", 2, "alternate">]> {
  let cppNamespace = "::mmx::tile";
  let genSpecializedAttr = 0;
}

def Tile_RoleAttr : Tile_Attr<"Role", "role"> {
  let summary = "a group of warps that runs part of a kernel";
  let description = [{
    `warps` is 1 or 4, for each instance. `regs` is the register budget of a
    thread, a multiple of 8 from 24 to 240.

    `split = n along d`: `n` instances, each computes its part of dimension `d`
    of the role's products; the dimension is followed through the other ops.
    `alternate = n over @loop`: `n` instances, instance `q` runs the iterations
    of the loop whose running count is `q` modulo `n`. The running count does
    not restart when an outer loop runs the loop again.

    Example: `#tile.role<@out, warps = 4, regs = 152, alternate = 2 over @i>`
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "int64_t":$warps,
                        DefaultValuedParameter<"int64_t", "0">:$regs,
                        DefaultValuedParameter<"::mmx::tile::InstanceMode",
                            "InstanceMode::One">:$mode,
                        DefaultValuedParameter<"int64_t", "1">:$instances,
                        DefaultValuedParameter<"int64_t", "0">:$dim,
                        DefaultValuedParameter<"::mlir::StringAttr", "{}">:$loop);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Parses and prints the form without mnemonic: `@out<warps = 4>`.
    static ::mlir::FailureOr<RoleAttr> parseShort(::mlir::AsmParser &parser);
    void printShort(::mlir::AsmPrinter &printer) const;
  }];
}

def Tile_RingAttr : Tile_Attr<"Ring", "ring"> {
  let summary = "a ring of slots in shared memory between roles";
  let description = [{
    Iteration `k` of the loop that fills the ring uses slot `k` modulo `depth`;
    `k` keeps counting when an outer loop runs that loop again. A slot holds
    one tile for every field.

    Example: `#tile.ring<@kv, depth = 4>`
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "int64_t":$depth);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static ::mlir::FailureOr<RingAttr> parseShort(::mlir::AsmParser &parser);
    void printShort(::mlir::AsmPrinter &printer) const;
  }];
}

def Tile_ScheduleAttr : Tile_Attr<"Schedule", "schedule"> {
  let summary = "the roles and rings of a kernel";
  let description = [{
    Attribute `schedule` of `tile.kernel`. What an op adds is in its attribute
    `at`. Deleting both leaves the same sequential program.

    Example:
    ```mlir
    #tile.schedule<roles = [@ld<warps = 1, regs = 24>,
                            @mm<warps = 4, regs = 240, split = 2 along 0>],
                   rings = [@q<depth = 1>, @k<depth = 2>]>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::mmx::tile::RoleAttr">:$roles,
                        ArrayRefParameter<"::mmx::tile::RingAttr">:$rings);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tile_AtAttr : Tile_Attr<"At", "at"> {
  let summary = "role, order and stage of an op";
  let description = [{
    Attribute `at` of the ops on tiles. `order` is total within a role and
    region. `stage` (in loops without a loop inside): step `t` of the emitted
    loop runs the op for iteration `t - stage`.

    `ring = @r.f`, on ops that produce a tile in shared memory: it is field `f`
    of the slots of `@r`. `inflight = n`, on `tile.mma`: iteration `i` is
    waited for right after the same op of iteration `i + n` was issued.
    `multicast = d`, on `tile.load`: the indices do not depend on the cluster
    dimension `d` of the grid; every cell loads a part for all.
    `turn = @t`: the instances of the role run the range from the first to the
    last op of `@t` one after another.

    Examples: `#tile.at<@ldkv, order = 0, ring = @kv.0, multicast = 1>`,
    `#tile.at<@mm, order = 0, stage = 1, inflight = 1, turn = @t>`
  }];
  let parameters = (ins "::mlir::StringAttr":$role, "int64_t":$order,
                        DefaultValuedParameter<"int64_t", "0">:$stage,
                        DefaultValuedParameter<"::mlir::StringAttr", "{}">:$ring,
                        DefaultValuedParameter<"int64_t", "0">:$field,
                        DefaultValuedParameter<"int64_t", "-1">:$inflight,
                        DefaultValuedParameter<"int64_t", "-1">:$multicast,
                        DefaultValuedParameter<"::mlir::StringAttr", "{}">:$turn);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool hasInflight() const { return getInflight() >= 0; }
    bool isMulticast() const { return getMulticast() >= 0; }
  }];
}

def Tile_LoopAttr : Tile_Attr<"Loop", "loop"> {
  let summary = "name and order of a loop";
  let description = [{
    Attribute `at` of `scf.for`. The order counts in every role that has an op
    inside. `turn = @t`: the whole loop belongs to the turn, for roles with
    more than one instance.

    Example: `#tile.loop<@k, order = 1, turn = @t>`
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "int64_t":$order,
                        DefaultValuedParameter<"::mlir::StringAttr", "{}">:$turn);
  let hasCustomAssemblyFormat = 1;
}

#endif // MMX_DIALECT_TILE_TILESCHEDULE_TD
