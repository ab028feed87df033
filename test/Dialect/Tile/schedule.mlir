// RUN: mmx-opt %s | mmx-opt | FileCheck %s

// CHECK-DAG: #tile.role<@a, warps = 1>
// CHECK-DAG: #tile.role<@out, warps = 4, regs = 152, alternate = 2 over @i>
// CHECK-DAG: #tile.role<@mm, warps = 4, split = 2 along 1>
// CHECK-DAG: #tile.ring<@kv, depth = 4>
// CHECK-DAG: #tile.at<@ld, order = -3>
// CHECK-DAG: #tile.at<@ld, order = 0, ring = @kv, multicast = 1>
// CHECK-DAG: #tile.at<@ld, order = 0, ring = @kv.12>
// CHECK-DAG: #tile.at<@mm, order = 0, stage = 1, inflight = 0, turn = @t>
// CHECK-DAG: #tile.loop<@k, order = 1, turn = @t>
// CHECK-DAG: #tile.schedule<roles = [@ld<warps = 1, regs = 24>, @mm<warps = 4, split = 2 along 0>], rings = [@q<depth = 1>, @k<depth = 2>]>
// CHECK-DAG: #tile.schedule<roles = [], rings = []>
module attributes {test.attrs = [
  #tile.role<@a, warps = 1>,
  #tile.role<@out, warps = 4, regs = 152, alternate = 2 over @i>,
  #tile.role<@mm, warps = 4, split = 2 along 1>,
  #tile.ring<@kv, depth = 4>,
  #tile.at<@ld, order = -3>,
  #tile.at<@ld, order = 0, ring = @kv, multicast = 1>,
  #tile.at<@ld, order = 0, ring = @kv.12>,
  #tile.at<@mm, order = 0, stage = 1, inflight = 0, turn = @t>,
  #tile.loop<@k, order = 1, turn = @t>,
  #tile.schedule<roles = [@ld<warps = 1, regs = 24>, @mm<warps = 4, split = 2 along 0>],
                 rings = [@q<depth = 1>, @k<depth = 2>]>,
  #tile.schedule<roles = [], rings = []>]} {}
