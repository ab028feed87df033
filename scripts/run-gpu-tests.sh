#!/usr/bin/env bash
# Runs the tests of a bundle (make gpu-bundle) on a machine with a GPU: the
# features of the device, the golden checkpoints against their recorded answers,
# what must not change an answer, the sanitizer of CUDA if it is there, speed.
# Needs the driver; no LLVM, no CUDA toolkit, no network.
#
# usage: run-gpu-tests.sh        TARGET=h200 also on other Hopper GPUs
#
# ONLY=answers stops after the recorded answers. Everything goes to
# $OUT/gpu-tests.log (OUT=out if not set). The table at the
# end counts what passed; the exit status is 1 if something failed.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
golden=${GOLDEN:-$here/golden}
[[ -d $golden ]] || golden=$PWD/test/golden
out=${OUT:-$here/out}
mkdir -p "$out"
log=$out/gpu-tests.log
: >"$log"
run=$here/bin/mmx-run
target=()
[[ -n ${TARGET:-} ]] && target=(--target "$TARGET") && export MMX_TEST_TARGET=$TARGET
export MMX_GPU_TEST_KERNELS=$here/kernels MMX_TEST_DEVICE=cuda
export MMX_TEST_PACKAGES=$here/packages MMX_TEST_GOLDEN=$golden
models="hf-tiny hf-head128 m1-tiny m1-options"
passed=0 failed=0
table=()

# step NAME SECONDS COMMAND...: runs it, logs it, adds a line to the table. What
# it printed stays in $answer.
step() {
  local name=$1 limit=$2 began=$SECONDS status
  shift 2
  printf '\n===== %s: %s\n' "$name" "$*" >>"$log"
  answer=$(timeout -k 5 "$limit" "$@" 2>&1)
  status=$?
  printf '%s\n' "$answer" >>"$log"
  if ((status == 0)); then
    passed=$((passed + 1))
    table+=("ok    $name ($((SECONDS - began)) s)")
    return 0
  fi
  failed=$((failed + 1))
  ((status == 124 || status == 137)) && answer+=$'\n'"stopped after $limit s"
  table+=("FAIL  $name (status $status): $(grep -vE '^(prompt |\[|Note)' <<<"$answer" | grep -iE 'error|differ|fail|stopped' | head -1 | cut -c1-200)")
  return 1
}

note() { table+=("      $*"); }

verify() { # MODEL DTYPE TOLERANCE [OPTION...]
  local model=$1 dtype=$2 tolerance=$3
  shift 3
  step "verify $model $dtype $*" 60 "$run" verify "$here/packages/$model.$dtype.mmx" \
    --weights "$golden/$model" --dtype "$dtype" --device cuda --progress none \
    --tolerance "$tolerance" ${target[@]+"${target[@]}"} "$@"
}

# The worst error of each column of verify.
worst() {
  awk '/^prompt\./ { n++; if ($3 + 0 > l) l = $3 + 0; if ($4 + 0 > h) h = $4 + 0;
         if ($5 + 0 > s) s = $5 + 0; split($6, i, "/"); e += i[1]; t += i[2] }
       END { printf "%d prompts, worst logits %.2e, hidden %.2e, state %.2e, best ids %d/%d", n, l, h, s, e, t }' <<<"$answer"
}

# One line of the table of answers: MODEL and what the last step compared.
answers=()
compared() { # MODEL WHAT BOUND
  answers+=("$(awk -v model="$1" -v what="$2" -v bound="$3" '
    /^prompt\./ { n++; if ($3 + 0 > l) l = $3 + 0; split($6, i, "/"); e += i[1]; t += i[2]
      if ($8 ~ /%$/) { own = 1; if ($7 + 0 > m) m = $7 + 0; if ($8 + 0 > o) o = $8 + 0 }
      bad += $NF != "ok" }
    END { printf "%-11s %-14s %-8s %9.2e  %9s  %7s  %4d/%-4d  %s", model, what, bound, l,
            own ? sprintf("%.2e", m) : "-", own ? sprintf("%.2f%%", o) : "-", e, t,
            n == 0 ? "no answer" : bad ? bad " of " n " DIFFER" : "ok" }' <<<"$answer")")
}

# Prints the tables and leaves.
finish() {
  {
    printf '%s\n' "" "${table[@]}"
    printf '\n%-11s %-14s %-8s %9s  %9s  %7s  %9s\n' model routing bound logits "own median" others "best ids"
    printf '%s\n' "${answers[@]}" ""
    echo "$passed passed, $failed failed"
  } | tee -a "$log"
  exit $((failed > 0))
}

generate() { # MODEL DTYPE PROMPT COUNT [OPTION...]
  local model=$1 dtype=$2 prompt=$3 count=$4
  shift 4
  timeout -k 5 60 "$run" "$here/packages/$model.$dtype.mmx" --weights "$golden/$model" \
    --device cuda --ids "$prompt" -n "$count" --ignore-stop --progress lines \
    ${target[@]+"${target[@]}"} "$@"
}

{ nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.sm,clocks.max.sm --format=csv,noheader ||
  echo "no nvidia-smi"; } 2>&1 | tee -a "$log"

step "device features" 120 "$here/bin/mmx-gpu-tests" --gtest_brief=1
if grep -qE 'cannot open the CUDA driver|sees no GPU|has compute capability' <<<"$answer"; then
  grep -m1 -oE '(cannot open|the CUDA driver|[^"]* has compute).*' <<<"$answer" | sed 's/" thrown in .*//'
  exit 1
fi
((failed)) && note "$(grep -E 'FAILED  \]' <<<"$answer" | head -5 | tr '\n' ';')"

for model in $models; do
  verify "$model" f32 1e-3
  status=$?
  compared "$model" f32 1e-3
  note "$(worst)"
  if ((status != 0)); then
    # The first kernel that fails by itself, and whether graphs matter.
    verify "$model" f32 1e-3 --profile
    note "$(grep -m1 'error' <<<"$answer" | cut -c1-300)"
    verify "$model" f32 1e-3 --no-graph
  fi
done

# In bf16 near ties between experts flip: the recorded choice of the reference
# binds every row, the model's own choice the median row.
for model in $models; do
  for routing in reference own; do
    step "verify $model bf16 $routing" 60 "$run" verify "$here/packages/$model.bf16.mmx" \
      --device cuda --weights "$golden/$model" --progress none --routing $routing \
      --routing-file "$here/routing/$model.safetensors" ${target[@]+"${target[@]}"}
    note "$(worst)"
    [[ $routing == own ]] && compared "$model" "bf16 own" "6e-2 m" ||
      compared "$model" "bf16 reference" 2.5e-2
  done
done
[[ ${ONLY:-} == answers ]] && finish

for model in $models; do
  step "invariance $model" 240 "$here/bin/mmx-model-tests" --gtest_brief=1 \
    --gtest_filter="Golden/Invariance.*/${model/-/_}"
  [[ $answer == *"FAILED  ]"* ]] && note "$(grep -oE 'Invariance\.[A-Za-z]+' <<<"$answer" | sort -u | tr '\n' ' ')"
done

prompt=$(seq -s, 1 200)
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)
if [[ -n $sanitizer ]]; then
  for tool in memcheck racecheck synccheck; do
    step "$tool" 90 "$sanitizer" --tool $tool --error-exitcode 9 "$run" \
      "$here/packages/hf-tiny.f32.mmx" --weights "$golden/hf-tiny" --device cuda \
      --ids "$(seq -s, 1 70)" -n 4 --ignore-stop --progress none ${target[@]+"${target[@]}"}
    note "$(grep -E '(ERROR|RACECHECK) SUMMARY' <<<"$answer" | tail -1)"
  done
else
  note "no compute-sanitizer: memory checks left out"
fi

for model in $models; do
  for dtype in f32 bf16; do
    for graph in --graph --no-graph; do
      answer=$(generate "$model" "$dtype" "$prompt,$prompt" 200 $graph 2>&1)
      printf '\n===== speed %s %s %s\n%s\n' "$model" "$dtype" "$graph" "$answer" >>"$log"
      note "speed $model $dtype $graph: $(grep -oE '^(prefill|decode) .*|[0-9.]+ tokens/s' <<<"$answer" | grep -oE '[0-9.]+ tokens/s' | paste -sd'|' | sed 's/|/ prefill, /') decode"
    done
  done
done
printf '\n===== profile\n' >>"$log"
generate hf-head128 f32 "$prompt,$prompt" 20 --profile >>"$log" 2>&1
finish
