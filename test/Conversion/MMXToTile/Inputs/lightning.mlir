// One layer of 2 heads of SIZE (THREE times 2 SIZE columns of a packed row) as
// a model has it; what runs it sets both.

func.func @prefill(
    %qkv: tensor<?xTHREExbf16> {mmx.shape = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, THREE)>},
    %states: tensor<?x2xSIZExSIZExf32> {mmx.role = "state.0", mmx.shape = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s3, 2, SIZE, SIZE)>},
    %starts: tensor<?xi32> {mmx.role = "starts", mmx.shape = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s1 + 1)>},
    %slots: tensor<?xi32> {mmx.role = "slots", mmx.shape = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s1)>})
    -> (tensor<?x2xSIZExbf16>, tensor<?x2xSIZExSIZExf32>)
    attributes {mmx.phase = "prefill"} {
  %q, %k, %v = mmx.split_heads %qkv : (tensor<?xTHREExbf16>) -> (tensor<?x2xSIZExbf16>, tensor<?x2xSIZExbf16>, tensor<?x2xSIZExbf16>)
  %o, %new = mmx.lightning_attention %q, %k, %v, %states packed(%starts, %slots) decay <layer = 1, layers = 4, heads = 2>
     : (tensor<?x2xSIZExbf16>, tensor<?x2xSIZExbf16>, tensor<?x2xSIZExbf16>, tensor<?x2xSIZExSIZExf32>, tensor<?xi32>, tensor<?xi32>)
       -> (tensor<?x2xSIZExbf16>, tensor<?x2xSIZExSIZExf32>)
  return %o, %new : tensor<?x2xSIZExbf16>, tensor<?x2xSIZExSIZExf32>
}
