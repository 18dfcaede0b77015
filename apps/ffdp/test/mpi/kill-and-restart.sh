#!/usr/bin/env bash
# One rank is killed half way: all end, nothing half-written is left, and another number of ranks goes on to the bytes
# of a run that was never disturbed.
source "$(dirname "$0")/common.sh" "$@"

make_pair 46 58 67
long=(-f fixed.nii -m moving.nii --transform 'SyN[0.65]' --metric 'CC[fixed.nii,moving.nii,1,3]'
      --convergence '[40x40,0,10]' --shrink-factors 2x1 --no-report)
"$ffdp" register --threads 2 -q -o undisturbed_ "${long[@]}"

ranks 3 "${long[@]}" -o pair_ --checkpoint state --checkpoint-seconds 0.2 > log 2>&1 &
job=$!
for attempt in $(seq 300); do
  [ ! -e state/ffdp-state ] || break
  kill -0 "$job" 2>/dev/null || { cat log; fail "the registration ended before there was a checkpoint"; }
  sleep 0.1
done
victim=
for process in /proc/[0-9]*; do # the one of rank 1, of those that work in this folder
  if [ "$(readlink "$process/cwd" 2>/dev/null)" = "$folder" ] &&
     tr '\0' '\n' < "$process/environ" 2>/dev/null | grep -q '^OMPI_COMM_WORLD_RANK=1$'; then
    victim="${process#/proc/}"
  fi
done
[ -n "$victim" ] || fail "no process of rank 1 was found"
kill -9 "$victim"
for attempt in $(seq 200); do
  kill -0 "$job" 2>/dev/null || break
  sleep 0.1
done
! kill -0 "$job" 2>/dev/null || fail "ranks hang after one was killed"
if wait "$job"; then fail "a run whose rank was killed ends with success"; fi
no_files pair_

ranks 2 "${long[@]}" -o pair_ --checkpoint state > log
grep -q 'went on from the checkpoint' log || fail "the second run began anew"
same_files undisturbed_ pair_
echo "killed on 3 ranks, gone on with 2: the same files"
