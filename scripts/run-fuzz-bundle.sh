#!/usr/bin/env bash
# Runs all fuzz targets of a bundle (scripts/fuzz-bundle.sh) side by side and
# prints a table: processor seconds, runs, covered edges, features, findings.
# Terminated before its time, it prints what there is.
#
# usage: run.sh SECONDS CORES. It takes SECONDS on CORES cores, at the lowest
# priority. If OUT is set, OUT/fuzz gets the table (while it runs, too), inputs
# that failed, and an archive of them, the corpora and the logs.
set -uo pipefail
seconds=${1:-300} cores=${2:-$(nproc)}
tree=$(mktemp -d)
out=${OUT:+$OUT/fuzz}
out=${out:-$tree/out}
mkdir -p "$out"
trap 'rm -rf "$tree"' EXIT
python3 -m tarfile -e "$(dirname "$0")/fuzz.tar.xz" "$tree" || exit 1
targets=$(find "$tree/build/bin" -name 'fuzz-*' ! -name '*-seed' | wc -l)
# Fewer cores than targets: each gets its part of the time.
each=$((cores < targets ? seconds * cores / targets : seconds))
nice -n 19 python3 "$tree/scripts/run-fuzz.py" --jobs "$cores" \
  --table "$out/table.txt" "$tree/build" "$((each > 0 ? each : 1))" \
  >"$tree/table" 2>"$tree/errors" &
child=$!
trap 'kill -TERM $child 2>/dev/null' TERM INT
# A signal ends the first wait, not the child.
while kill -0 $child 2>/dev/null; do wait $child; status=$?; done
cat "$tree/errors" >&2
if [[ -n ${OUT:-} ]]; then
  tar -C "$tree/build" -czf "$out/results.tar.gz" --exclude=bin .
  find "$tree/build/findings" -type f | head -20 | xargs -rI{} cp {} "$out"
fi
cat "$tree/table"
exit "${status:-1}"
