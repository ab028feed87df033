#!/usr/bin/env bash
# Puts what tests on a GPU need into one folder: packages of the golden
# checkpoints, a runtime that needs no library but libc, the recorded answers and
# the experts that the reference chooses, and run-gpu-tests.sh.
#
# usage: gpu-bundle.sh BUILD_DIR BUNDLE_DIR
set -euo pipefail
build=$1 bundle=$2 portable=build/portable
cd "$(dirname "$0")/.."
mkdir -p build
cmake --preset portable >build/portable.configure.log || {
  cat build/portable.configure.log
  exit 1
}
cmake --build $portable -j "${JOBS:-$(nproc)}" \
  --target mmx-run mmx-gpu-tests mmx-model-tests mmx-gpu-test-kernels
rm -rf "$bundle"
mkdir -p "$bundle"/{bin,packages,golden,kernels,routing}
for program in mmx-run mmx-gpu-tests mmx-model-tests; do
  strip -o "$bundle/bin/$program" "$portable/bin/$program"
done
cp unittests/gpu/TestKernels.ptx $portable/unittests/gpu/TestKernels.cubin "$bundle/kernels"
cp scripts/run-gpu-tests.sh "$bundle"
for model in hf-tiny hf-head128 m1-tiny m1-options; do
  cp -r "test/golden/$model" "$bundle/golden"
  compile=("$build/bin/mmx-compile" "test/golden/$model" --target "${TARGET:-h200}" --keep-hidden)
  "${compile[@]}" --dtype f32 -o "$bundle/packages/$model.f32.mmx"
  "${compile[@]}" --dtype bf16 --routing -o "$bundle/packages/$model.bf16.mmx"
  "$build/bin/mmx-run" verify "test/golden/$model" --dtype bf16 --progress none \
    --save-routing "$bundle/routing/$model.safetensors" >/dev/null
done
du -sh "$bundle"
