#!/usr/bin/env bash
# Puts the fuzz targets of the runtime into one folder, for a machine with many
# cores that has neither LLVM nor this tree: programs that need no library but
# libc, their seeds, and run.sh.
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
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/{scripts,build/bin,build/corpus,test/golden/tokenizer}
cp scripts/run-fuzz.py "$tree/scripts"
cp -r --parents fuzz/corpus models/*/config.json test/golden/*/config.json \
  test/golden/chat/*.json test/golden/tokenizer/bpe1k* "$tree"
for program in $build/bin/fuzz-*; do
  name=$(basename "$program")
  strip -o "$tree/build/bin/$name" "$program"
  if [[ -n $corpus && -d $corpus/${name#fuzz-} ]]; then
    cp -r "$corpus/${name#fuzz-}" "$tree/build/corpus"
  fi
done
tar -C "$tree" -cf - . | xz -T0 -9 >"$bundle/fuzz.tar.xz"
cp scripts/run-fuzz-bundle.sh "$bundle/run.sh"
du -sh "$bundle"
