#!/usr/bin/env bash
# Puts what tests on a GPU need into one folder: packages of the golden
# checkpoints, a runtime that needs no library but libc, the recorded answers,
# and run-gpu-tests.sh.
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
mkdir -p "$bundle"/{bin,packages,golden,kernels}
for program in mmx-run mmx-gpu-tests mmx-model-tests; do
  strip -o "$bundle/bin/$program" "$portable/bin/$program"
done
cp unittests/gpu/TestKernels.ptx $portable/unittests/gpu/TestKernels.cubin "$bundle/kernels"
cp scripts/run-gpu-tests.sh "$bundle"
for model in hf-tiny hf-head128 m1-tiny m1-options; do
  cp -r "test/golden/$model" "$bundle/golden"
  for dtype in f32 bf16; do
    "$build/bin/mmx-compile" "test/golden/$model" --target "${TARGET:-h200}" \
      --dtype $dtype --keep-hidden -o "$bundle/packages/$model.$dtype.mmx"
  done
done
du -sh "$bundle"
