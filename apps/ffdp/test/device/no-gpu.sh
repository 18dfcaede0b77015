#!/usr/bin/env bash
# no-gpu.sh FFDP: without a GPU the program says so, in one line, and does not start to work. Skipped (77) where there is one.
set -uo pipefail
ffdp="$1"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

info="$("$ffdp" info)" || fail "info ends with $?"
echo "$info"
grep -q '^device cuda:0' <<< "$info" && exit 77
grep -q '^device cuda: no CUDA device: .' <<< "$info" || fail "info does not say why there is no CUDA device"

"$ffdp" synthesize --head --size 24 24 24 -o "$folder/head.nii.gz" -q || fail "synthesize"
refused() { # MESSAGE ARGUMENTS: one line on stderr that has MESSAGE, nothing written, not 0
  local message="$1" code=0
  shift
  "$ffdp" "$@" > "$folder/out" 2> "$folder/error" || code=$?
  cat "$folder/error"
  [ "$code" -ne 0 ] || fail "$*: ended with 0"
  [ "$code" -lt 128 ] || fail "$*: crashed"
  [ "$(wc -l < "$folder/error")" -eq 1 ] || fail "$*: not one line"
  grep -q -- "$message" "$folder/error" || fail "$*: does not say '$message'"
}
images=(-f "$folder/head.nii.gz" -m "$folder/head.nii.gz")
refused 'no CUDA device' register "${images[@]}" -o "$folder/pair_" --device cuda
refused 'no CUDA device' register "${images[@]}" -o "$folder/pair_" --device cuda:3
refused "neither cpu, cuda nor cuda:N" register "${images[@]}" -o "$folder/pair_" --device gpu
refused "neither cpu, cuda nor cuda:N" register "${images[@]}" -o "$folder/pair_" --device cuda:x
refused 'no CUDA device' bench --device cuda
[ -z "$(ls "$folder" | grep pair_)" ] || fail "outputs were written"

"$ffdp" bench --size 16 --repeats 1 --json "$folder/bench.json" || fail "bench on the CPU"
grep -q iteration_greedy_lncc "$folder/bench.json" || fail "bench.json lacks iterations"
