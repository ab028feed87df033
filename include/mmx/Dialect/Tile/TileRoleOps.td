//===- TileRoleOps.td - What the roles of a kernel execute -*- tablegen -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_DIALECT_TILE_TILEROLEOPS_TD
#define MMX_DIALECT_TILE_TILEROLEOPS_TD

include "mlir/IR/OpBase.td"
include "mmx/Dialect/Tile/TileDialect.td"

def Tile_RolesOp : Tile_Op<"roles", [NoTerminator, SingleBlock]> {
  let summary = "the derived code of the roles of a kernel";
  let description = [{
    Stands beside the sequential program of `kernel` and refers to its ops by
    role and order. Holds the barriers of the rings and one `tile.role` for each
    role. Made by `tile-specialize-warps`; nothing in it is written by hand.

    Example:
    ```mlir
    tile.roles @lightning {
      tile.barriers @kv depth 4 full 1 bytes 24576 empty 16 multicast
      tile.role @state warps 4 instances 1 {
        tile.section step 0 of @i {
          tile.wait_full @kv stage 0
          tile.run "tile.read" order 30 stage 0
        }
      }
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$kernel $body attr-dict";
}

class Tile_RolesPart<string mnemonic, list<Trait> traits = []>
    : Tile_Op<mnemonic, traits # [ParentOneOf<["RolesOp"]>]>;

def Tile_BarriersOp : Tile_RolesPart<"barriers"> {
  let summary = "the barriers of a ring";
  let description = [{
    Every slot has a full and an empty barrier; the numbers are what one phase
    waits for: arrivals, bytes of loads, and arrivals of readers. Push `k` uses
    slot `k mod depth`, full is waited for with parity `(k div depth) mod 2`,
    empty with the other one. A `local` ring has no barriers. With `multicast`
    readers arrive at the empty barriers of all cells of the cluster.

    Example:
    ```mlir
    tile.barriers @s depth 2 full 4 bytes 0 empty 4
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$ring, I64Attr:$depth, I64Attr:$full,
                       I64Attr:$bytes, I64Attr:$empty, UnitAttr:$multicast,
                       UnitAttr:$local);
  let assemblyFormat = [{
    $ring `depth` $depth `full` $full `bytes` $bytes `empty` $empty
    (`multicast` $multicast^)? (`local` $local^)? attr-dict
  }];
}

def Tile_RoleOp : Tile_RolesPart<"role", [NoTerminator, SingleBlock]> {
  let summary = "the code of one role";
  let description = [{
    Every instance runs the sections of the kernel's body, which is a loop of
    one iteration.

    Example:
    ```mlir
    tile.role @ld warps 1 instances 1 {
      tile.section step 0 {
        tile.wait_empty @kv stage 0
      }
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$role, I64Attr:$warps,
                       I64Attr:$instances);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $role `warps` $warps `instances` $instances $body attr-dict
  }];
}

def Tile_SectionOp : Tile_Op<"section", [
    NoTerminator, SingleBlock, ParentOneOf<["RoleOp", "RunLoopOp"]>]> {
  let summary = "one step of a loop";
  let description = [{
    Before `tile-pipeline` a loop has the section `step`, whose instructions
    carry their stage. After it: `prologue` and `epilogue` for each stage
    `number`, `steady` for the rest, and `guarded`, in which an instruction is
    skipped when its iteration does not exist, for loops with fewer iterations
    than stages.

    Example:
    ```mlir
    tile.section prologue 0 of @j {
      tile.run "tile.mma" order 0 stage 0
    }
    ```
  }];
  let arguments = (ins StrAttr:$kind, I64Attr:$number,
                       OptionalAttr<FlatSymbolRefAttr>:$loop);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    custom<Keyword>($kind) $number (`of` $loop^)? $body attr-dict
  }];
}

class Tile_Instruction<string mnemonic, list<Trait> traits = []>
    : Tile_Op<mnemonic, traits # [ParentOneOf<["SectionOp"]>]>;

def Tile_RunOp : Tile_Instruction<"run"> {
  let summary = "runs an op of the sequential program";
  let description = [{
    The op of the role with this order in the loop, for the iteration of the
    step less `stage`. `copies`: its results take turns in so many sets of
    registers.

    Example:
    ```mlir
    tile.run "tile.map" order 40 stage 0 copies 2
    ```
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$order, I64Attr:$stage,
                       DefaultValuedAttr<I64Attr, "1">:$copies);
  let assemblyFormat = [{
    $name `order` $order `stage` $stage (`copies` $copies^)? attr-dict
  }];
}

def Tile_RunLoopOp : Tile_Instruction<"run_loop", [NoTerminator, SingleBlock]> {
  let summary = "runs an inner loop, then waits for its products";
  let description = [{
    Example:
    ```mlir
    tile.run_loop @k stage 0 {
      tile.section step 0 of @k {
        tile.run "tile.mma" order 0 stage 0
      }
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$loop, I64Attr:$stage);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$loop `stage` $stage $body attr-dict";
}

def Tile_WaitMmaOp : Tile_Instruction<"wait_mma"> {
  let summary = "waits until at most so many later products are in flight";
  let description = [{
    `for` is the order of the product that must have retired. The number is
    known after `tile-pipeline`; it differs between the sections.

    Example:
    ```mlir
    tile.wait_mma for 10 pending 1 stage 0
    ```
  }];
  let arguments = (ins I64Attr:$order, OptionalAttr<I64Attr>:$pending,
                       I64Attr:$stage);
  let assemblyFormat = [{
    `for` $order (`pending` $pending^)? `stage` $stage attr-dict
  }];
}

class Tile_RingInstruction<string mnemonic, string text> :
    Tile_Instruction<mnemonic> {
  let summary = text;
  let description = "Example: `tile." # mnemonic # " @kv stage 0`";
  let arguments = (ins FlatSymbolRefAttr:$ring, I64Attr:$stage);
  let assemblyFormat = "$ring `stage` $stage attr-dict";
}

def Tile_WaitEmptyOp : Tile_RingInstruction<"wait_empty",
    "waits until the slot to fill is free">;
def Tile_ExpectOp : Tile_RingInstruction<"expect",
    "arrives at the full barrier and announces the bytes of the slot">;
def Tile_WaitStoresOp : Tile_RingInstruction<"wait_stores",
    "waits until the stores of the slot to reuse have read it">;
def Tile_FenceOp : Tile_RingInstruction<"fence",
    "makes writes of threads to the slot visible to asynchronous readers">;
def Tile_ArriveFullOp : Tile_RingInstruction<"arrive_full",
    "every warp arrives: it has written its part of the slot">;
def Tile_WaitFullOp : Tile_RingInstruction<"wait_full",
    "waits until the slot to read is full">;
def Tile_ArriveEmptyOp : Tile_RingInstruction<"arrive_empty",
    "every warp arrives: it has read the slot">;

class Tile_TurnInstruction<string mnemonic, string text> :
    Tile_Instruction<mnemonic> {
  let summary = text;
  let description = "Example: `tile." # mnemonic # " @t`";
  let arguments = (ins FlatSymbolRefAttr:$turn);
  let assemblyFormat = "$turn attr-dict";
}

def Tile_TurnBeginOp : Tile_TurnInstruction<"turn_begin",
    "waits for the turn of this instance">;
def Tile_TurnEndOp : Tile_TurnInstruction<"turn_end",
    "passes the turn to the next instance">;

#endif // MMX_DIALECT_TILE_TILEROLEOPS_TD
