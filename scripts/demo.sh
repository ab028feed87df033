#!/usr/bin/env bash
# What mmx does, in half a minute: a small trained model is compiled, goes on
# with a text, finds a number in a long one, and is compared with the answers
# that PyTorch gives.
#
# usage: scripts/demo.sh [BUILD_DIR]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/dev}
run=$build/bin/mmx-run
model=models/tiny

step() { printf '\n== %s\n\n' "$1"; }

step "A small model: 7 lightning layers, 1 softmax layer, 4 experts (models/tiny)"
printf 'And it came to pass'
"$run" $model --prompt "And it came to pass" -n 70 \
  --temperature 0.5 --top-p 0.9 --seed 1

step "A five-digit number hidden in 8192 tokens of text, then asked for"
"$run" niah $model --lengths 8k --depths 3 --progress none

step "One lightning layer, as the compiler sees it"
"$build/bin/mmx-compile" $model --emit mmx |
  awk '/mmx.(split_heads|lightning_attention|merge_heads)/ && n++ < 3' |
  sed 's/^ */   /' | cut -c1-78

step "The same model in PyTorch, float32: do the logits agree?"
"$run" verify $model
