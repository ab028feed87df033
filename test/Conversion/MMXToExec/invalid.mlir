// RUN: mmx-opt %s --convert-mmx-to-exec --split-input-file --verify-diagnostics

#tokens = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
#slots = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s3)>
tile.kernel @update(%x: !tile.view<?xf32, inplace>) grid(%i) = affine_map<()[s0] -> (s0)> {
}
tile.kernel @copy(%x: !tile.view<?xf32, read>, %y: !tile.view<?xf32, write>) grid(%i) = affine_map<()[s0, s1] -> (s0)> {
}
func.func @prefill(%s: tensor<?xf32> {mmx.role = "state.0", mmx.shape = #slots}) -> (tensor<?xf32> {mmx.role = "state.0"}) attributes {mmx.phase = "prefill"} {
  // expected-note@+1 {{updated here}}
  %n = mmx.launch @update(%s) inplace [0] shapes [#slots] : (tensor<?xf32>) -> tensor<?xf32>
  // expected-error@+1 {{uses a value after a launch updated it in place, which takes a copy of a state or cache}}
  %m = mmx.launch @update(%s) inplace [0] shapes [#slots] : (tensor<?xf32>) -> tensor<?xf32>
  return %n : tensor<?xf32>
}

// -----

#tokens = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
#slots = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s3)>
tile.kernel @update(%x: !tile.view<?xf32, inplace>) grid(%i) = affine_map<()[s0] -> (s0)> {
}
func.func @prefill(%s: tensor<?xf32> {mmx.role = "state.0", mmx.shape = #slots}, %t: tensor<?xf32> {mmx.role = "state.1", mmx.shape = #slots}) -> (tensor<?xf32> {mmx.role = "state.0"}, tensor<?xf32> {mmx.role = "state.1"}) attributes {mmx.phase = "prefill"} {
  %n = mmx.launch @update(%s) inplace [0] shapes [#slots] : (tensor<?xf32>) -> tensor<?xf32>
  %m = mmx.launch @update(%t) inplace [0] shapes [#slots] : (tensor<?xf32>) -> tensor<?xf32>
  // expected-error@+1 {{expected 'state.0' to be the argument of that role, updated in place; this takes a copy of a state or cache}}
  return %m, %n : tensor<?xf32>, tensor<?xf32>
}

// -----

#tokens = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
#slots = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s3)>
tile.kernel @copy(%x: !tile.view<?xf32, read>, %y: !tile.view<?xf32, write>) grid(%i) = affine_map<()[s0, s1] -> (s0)> {
}
func.func @prefill(%s: tensor<?xf32> {mmx.role = "state.0", mmx.shape = #slots}) -> (tensor<?xf32> {mmx.role = "state.0"}) attributes {mmx.phase = "prefill"} {
  %n = mmx.launch @copy(%s) inplace [-1] shapes [#slots] : (tensor<?xf32>) -> tensor<?xf32>
  // expected-error@+1 {{expected 'state.0' to be the argument of that role, updated in place; this takes a copy of a state or cache}}
  return %n : tensor<?xf32>
}

// -----

#tokens = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
#slots = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s3)>
tile.kernel @update(%x: !tile.view<?xf32, inplace>) grid(%i) = affine_map<()[s0] -> (s0)> {
}
tile.kernel @copy(%x: !tile.view<?xf32, read>, %y: !tile.view<?xf32, write>) grid(%i) = affine_map<()[s0, s1] -> (s0)> {
}
func.func @prefill(%s: tensor<?xf32> {mmx.role = "state.0", mmx.shape = #slots}) -> (tensor<?xf32> {mmx.role = "logits"}) attributes {mmx.phase = "prefill"} {
  // expected-error@+1 {{updates 'state.0', which the function does not return}}
  %n = mmx.launch @update(%s) inplace [0] shapes [#slots] : (tensor<?xf32>) -> tensor<?xf32>
  %m = mmx.launch @copy(%n) inplace [-1] shapes [#slots] : (tensor<?xf32>) -> tensor<?xf32>
  return %m : tensor<?xf32>
}

// -----

#tokens = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
#slots = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s3)>
tile.kernel @copy(%x: !tile.view<?xf32, read>, %y: !tile.view<?xf32, write>) grid(%i) = affine_map<()[s0, s1] -> (s0)> {
}
func.func @prefill(%s: tensor<?xf32> {mmx.role = "state.0", mmx.shape = #slots}) -> (tensor<?xf32> {mmx.role = "logits"}, tensor<?xf32> {mmx.role = "hidden.0"}) attributes {mmx.phase = "prefill"} {
  %m = mmx.launch @copy(%s) inplace [-1] shapes [#slots] : (tensor<?xf32>) -> tensor<?xf32>
  // expected-error@+1 {{returns one value as 'logits' and as 'hidden.0', which takes a copy}}
  return %m, %m : tensor<?xf32>, tensor<?xf32>
}

// -----

#tokens = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
#slots = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s3)>
func.func @prefill(%s: tensor<?xf32> {mmx.role = "state.0", mmx.shape = #slots}) -> (tensor<?xf32> {mmx.role = "logits"}) attributes {mmx.phase = "prefill"} {

  // expected-error@+1 {{expected 'logits' to be computed by a launch; this takes a copy}}
  return %s : tensor<?xf32>
}

// -----

#tokens = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
#slots = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s3)>
// expected-error@+1 {{expected attribute 'mmx.role' of result 0}}
func.func @prefill(%s: tensor<?xf32> {mmx.role = "state.0", mmx.shape = #slots}) -> (tensor<?xf32>) attributes {mmx.phase = "prefill"} {

  return %s : tensor<?xf32>
}

// -----

#tokens = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
#slots = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s3)>
// expected-error@+1 {{expected the role of a pool or an output for result 0, but got 'ids'}}
func.func @prefill(%s: tensor<?xf32> {mmx.role = "state.0", mmx.shape = #slots}) -> (tensor<?xf32> {mmx.role = "ids"}) attributes {mmx.phase = "prefill"} {

  return %s : tensor<?xf32>
}

// -----

#tokens = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
#slots = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s3)>
// expected-error@+1 {{expected a tensor with attributes 'mmx.role' and 'mmx.shape' as argument 0}}
func.func @prefill(%s: tensor<?xf32>) -> () attributes {mmx.phase = "prefill"} {

  return
}

// -----

#tokens = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
#slots = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s3)>
// expected-error@+1 {{expected 'mmx.shape' to be a map of 6 step symbols, but got affine_map<(d0) -> (d0)>}}
func.func @prefill(%s: tensor<?xf32> {mmx.role = "state.0", mmx.shape = affine_map<(d0) -> (d0)>}) -> () attributes {mmx.phase = "prefill"} {

  return
}

// -----

#tokens = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
#slots = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s3)>
// expected-error@+1 {{expected extent 4 of 'tensor<4xf32>' in affine_map<()[s0, s1, s2, s3, s4, s5] -> (s3)>}}
func.func @prefill(%s: tensor<4xf32> {mmx.role = "state.0", mmx.shape = #slots}) -> () attributes {mmx.phase = "prefill"} {

  return
}

// -----

#tokens = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
#slots = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s3)>
func.func @prefill(%s: tensor<?xf32> {mmx.role = "state.0", mmx.shape = #slots}) -> () attributes {mmx.phase = "prefill"} {
  // expected-error@+1 {{expected only weights, constant tensors and launches in a function of a phase}}
  %c = arith.constant 0 : index
  return
}

// -----

#tokens = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
#slots = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s3)>
tile.kernel @update(%x: !tile.view<?xi32, inplace>) grid(%i) = affine_map<()[s0] -> (s0)> {
}
func.func @prefill(%s: tensor<?xi32> {mmx.role = "ids", mmx.shape = #tokens}) -> () attributes {mmx.phase = "prefill"} {
  // expected-error@+1 {{updates operand 0 in place, expected a pool or a temporary value}}
  %n = mmx.launch @update(%s) inplace [0] shapes [#tokens] : (tensor<?xi32>) -> tensor<?xi32>
  return
}

// -----

#tokens = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
#slots = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s3)>
func.func private @update()
func.func @prefill(%s: tensor<?xf32> {mmx.role = "state.0", mmx.shape = #slots}) -> (tensor<?xf32> {mmx.role = "state.0"}) attributes {mmx.phase = "prefill"} {
  // expected-error@+1 {{expected a tile.kernel named @update}}
  %n = mmx.launch @update(%s) inplace [0] shapes [#slots] : (tensor<?xf32>) -> tensor<?xf32>
  return %n : tensor<?xf32>
}

// -----

#tokens = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
#slots = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s3)>
tile.kernel @copy(%x: !tile.view<?xf32, read>, %y: !tile.view<?xf32, write>) grid(%i) = affine_map<()[s0, s1] -> (s0)> {
}
func.func @prefill(%s: tensor<?xf32> {mmx.role = "state.0", mmx.shape = #slots}) -> (tensor<?xf32> {mmx.role = "state.0"}) attributes {mmx.phase = "prefill"} {
  // expected-error@+1 {{expected 1 views of @copy, but got 2}}
  %n = mmx.launch @copy(%s) inplace [0] shapes [#slots] : (tensor<?xf32>) -> tensor<?xf32>
  return %n : tensor<?xf32>
}

// -----

#tokens = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
#slots = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s3)>
tile.kernel @update(%x: !tile.view<?xf32, read>) grid(%i) = affine_map<()[s0] -> (s0)> {
}
func.func @prefill(%s: tensor<?xf32> {mmx.role = "state.0", mmx.shape = #slots}) -> (tensor<?xf32> {mmx.role = "state.0"}) attributes {mmx.phase = "prefill"} {
  // expected-error@+1 {{expected view 0 of @update to be written, but got '!tile.view<?xf32, read>'}}
  %n = mmx.launch @update(%s) inplace [0] shapes [#slots] : (tensor<?xf32>) -> tensor<?xf32>
  return %n : tensor<?xf32>
}

// -----

#tokens = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
#slots = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s3)>
tile.kernel @update(%x: !tile.view<?x3xf32, inplace>) grid(%i) = affine_map<()[s0] -> (s0)> {
}
func.func @prefill(%s: tensor<?xf32> {mmx.role = "state.0", mmx.shape = #slots}) -> (tensor<?xf32> {mmx.role = "state.0"}) attributes {mmx.phase = "prefill"} {
  // expected-error@+1 {{expected view 0 of @update to fit a buffer of 'f32' with extents affine_map<()[s0, s1, s2, s3, s4, s5] -> (s3)>, but got '!tile.view<?x3xf32, inplace>'}}
  %n = mmx.launch @update(%s) inplace [0] shapes [#slots] : (tensor<?xf32>) -> tensor<?xf32>
  return %n : tensor<?xf32>
}

// -----

#tokens = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
#slots = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s3)>
tile.kernel @update(%x: !tile.view<?xf32, inplace>) grid(%i) = affine_map<()[s0] -> (s0)> {
}
tile.kernel @panels(%x: !tile.view<?xf32, inplace, panel = 16 along 0>) grid(%i) = affine_map<()[s0] -> (s0)> {
}
func.func @prefill(%s: tensor<?xf32> {mmx.role = "state.0", mmx.shape = #slots}) -> (tensor<?xf32> {mmx.role = "state.0"}) attributes {mmx.phase = "prefill"} {
  %n = mmx.launch @panels(%s) inplace [0] shapes [#slots] : (tensor<?xf32>) -> tensor<?xf32>
  // expected-error@+1 {{expected 'state.0' in panels of 16 along 0 as in the launches before, but kernel @update has '!tile.view<?xf32, inplace>'}}
  %m = mmx.launch @update(%n) inplace [0] shapes [#slots] : (tensor<?xf32>) -> tensor<?xf32>
  return %m : tensor<?xf32>
}

// -----

#tokens = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
#slots = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s3)>
tile.kernel @copy(%x: !tile.view<?xf32, read>, %y: !tile.view<?xf32, write, panel = 16 along 0>) grid(%i) = affine_map<()[s0, s1] -> (s0)> {
}
func.func @prefill(%s: tensor<?xf32> {mmx.role = "state.0", mmx.shape = #slots}) -> (tensor<?xf32> {mmx.role = "logits"}) attributes {mmx.phase = "prefill"} {
  // expected-error@+1 {{expected a weight or pool where kernel @copy has '!tile.view<?xf32, write, panel = 16 along 0>'}}
  %n = mmx.launch @copy(%s) inplace [-1] shapes [#slots] : (tensor<?xf32>) -> tensor<?xf32>
  return %n : tensor<?xf32>
}
