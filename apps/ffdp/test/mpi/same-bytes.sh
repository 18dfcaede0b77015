#!/usr/bin/env bash
# One registration gives the same files over 1, 2, 3, 4, 5 and 8 ranks, whatever the method and the size.
source "$(dirname "$0")/common.sh" "$@"

greedy=(--transform 'Greedy[0.65]' --convergence '[4x3,0,10]' --shrink-factors 2x1)
syn=(--transform 'SyN[0.65]' --convergence '[4x3,0,10]' --shrink-factors 2x1)
affine=(--transform 'Affine[0.5]' --convergence '[6x4,0,10]' --shrink-factors 2x1)
lncc=(--metric 'CC[fixed.nii,moving.nii,1,3]')
mi=(--metric 'MI[fixed.nii,moving.nii,1,32]')

compare() { # NAME RANKS... -- OPTION...
  local name="$1" counts=()
  shift
  while [ "$1" != -- ]; do counts+=("$1"); shift; done
  shift
  "$ffdp" register --threads 2 --no-report -q -o "${name}_alone_" "$@"
  for count in "${counts[@]}"; do
    ranks "$count" --no-report -q -o "${name}_${count}_" "$@"
    same_files "${name}_alone_" "${name}_${count}_"
    rm -f "${name}_${count}_"*
  done
  echo "$name: the same files on ${counts[*]} ranks"
}

make_pair 46 58 67
compare affine 1 2 3 4 5 8 -- "${affine[@]}" "${mi[@]}"
compare greedy_lncc 1 2 3 4 5 8 -- "${greedy[@]}" "${lncc[@]}"
compare greedy_mi 2 3 4 5 8 -- "${greedy[@]}" "${mi[@]}"
compare syn 2 3 4 5 8 -- "${syn[@]}" "${lncc[@]}"
compare preset 3 -- -f fixed.nii -m moving.nii -p fast

# fewer planes than ranks, and one plane
make_pair 46 58 5
compare thin 2 5 8 -- "${greedy[@]}" "${lncc[@]}"
"$ffdp" synthesize --head --size 64 60 1 --seed 3 -o fixed.nii -q
"$ffdp" synthesize --head --size 61 67 1 --seed 4 -o moving.nii -q
compare planar 2 3 8 -- "${syn[@]}" "${lncc[@]}"
