#!/usr/bin/env bash
# Puts the fuzz targets into one folder, for a machine with many cores that has
# neither LLVM nor this tree: programs that need no library but libc, their
# seeds, and run.sh.
#
# usage: fuzz-bundle.sh BUNDLE_DIR [CORPUS_DIR]
# CORPUS_DIR/NAME: inputs that earlier runs found, put in as seeds.
set -euo pipefail
mkdir -p "$1"
bundle=$(realpath "$1") corpus=${2:+$(realpath "$2")}
cd "$(dirname "$0")/.."
build=build/fuzz-portable
cmake --preset fuzz-portable >build/fuzz-portable.configure.log || {
  cat build/fuzz-portable.configure.log
  exit 1
}
cmake --build $build -j "${JOBS:-$(nproc)}" --target fuzz-all
# Those of the compiler are linked once more, with the archives of MLIR.
compiler=(checkpoint-index dialects model-config)
cmake --preset fuzz >build/fuzz.configure.log
cmake --build build/fuzz -j "${JOBS:-$(nproc)}" --target "${compiler[@]/#/fuzz-}"
archives=$(find /usr/lib/llvm-22/lib -name 'libMLIR*.a' -o -name 'libLLVM*.a' |
  grep -v 'Test\|CAPI\|Runner\|_Runtime\|_runtime' | tr '\n' ' ')
mkdir -p build/fuzz/static
for name in "${compiler[@]}"; do
  link=$(ninja -C build/fuzz -t commands -s "bin/fuzz-$name" | tail -n 1 |
    sed "s#-o bin/#-static-libstdc++ -static-libgcc -Wl,--gc-sections -o static/#
         s#[^ ]*libMLIR[.]so[^ ]*##; s#[^ ]*libLLVM[.]so[^ ]*##
         s# && :\$# -Wl,--start-group $archives -Wl,--end-group \
           -l:libz.a -l:libzstd.a && :#")
  (cd build/fuzz && eval "$link")
done
# Their seeds are made of tests.
scripts/run-fuzz.py build/fuzz 0 "${compiler[@]}" >/dev/null

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/{scripts,build/bin,build/corpus,test/golden/tokenizer}
cp scripts/run-fuzz.py "$tree/scripts"
cp -r --parents fuzz/corpus models/*/config.json test/golden/*/config.json \
  test/golden/chat/*.json test/golden/tokenizer/bpe1k* "$tree"
for name in "${compiler[@]}"; do
  cp -r "build/fuzz/corpus/$name" "$tree/build/corpus"
done
for program in $build/bin/fuzz-* build/fuzz/static/fuzz-*; do
  name=$(basename "$program")
  strip -o "$tree/build/bin/$name" "$program"
  if [[ -n $corpus && -d $corpus/${name#fuzz-} ]]; then
    cp -r "$corpus/${name#fuzz-}" "$tree/build/corpus"
  fi
done
tar -C "$tree" -cf - . | xz -T0 -9 >"$bundle/fuzz.tar.xz"
cp scripts/run-fuzz-bundle.sh "$bundle/run.sh"
du -sh "$bundle"
