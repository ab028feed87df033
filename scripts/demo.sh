#!/usr/bin/env bash
# What mmx does, in half a minute: compiles a small model, generates token ids
# and verifies a checkpoint with recorded answers.
#
# usage: scripts/demo.sh [BUILD_DIR]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/dev}
run=$build/bin/mmx-run

step() { printf '\n== %s\n\n' "$1"; }

step "A small model with random weights (there is no trained one yet: its ids mean nothing)"
echo "   models/demo: 7 lightning layers and 1 softmax layer, 8 experts, top-2"
echo
"$run" models/demo/config.json --weights random:1 --ids 11,7,1977 -n 24

step "One lightning layer, as the compiler sees it"
"$build/bin/mmx-compile" models/demo/config.json --emit mmx |
  awk '/mmx.(split_heads|lightning_attention|merge_heads)/ && n++ < 3' |
  sed 's/^ */   /' | cut -c1-78

step "A checkpoint with recorded answers (from an independent implementation)"
"$run" verify test/golden/m1-tiny
