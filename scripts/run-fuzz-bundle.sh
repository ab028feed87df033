#!/usr/bin/env bash
# Runs all fuzz targets of a bundle (scripts/fuzz-bundle.sh) side by side and
# prints a table: runs, covered edges, features, what was found.
#
# usage: run.sh SECONDS. If OUT is set, the table goes there, the first inputs
# that failed, and an archive of all of them, the corpora and the logs.
set -uo pipefail
seconds=${1:-300}
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
python3 -m tarfile -e "$(dirname "$0")/fuzz.tar.xz" "$tree" || exit 1
nice -n 19 timeout $((seconds + 120)) \
  python3 "$tree/scripts/run-fuzz.py" --jobs 64 "$tree/build" "$seconds" |
  tee "$tree/table"
status=${PIPESTATUS[0]}
if [[ -n ${OUT:-} ]]; then
  cp "$tree/table" "$OUT/fuzz-table.txt"
  tar -C "$tree/build" -czf "$OUT/fuzz-results.tar.gz" --exclude=bin .
  find "$tree/build/findings" -type f | head -5 | xargs -rI{} cp {} "$OUT"
fi
exit "$status"
