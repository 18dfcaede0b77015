#!/usr/bin/env bash
# What goes wrong on one rank, or on all, ends all of them soon, with one line that says why, and no output.
source "$(dirname "$0")/common.sh" "$@"

make_pair 46 58 67
stages=(--transform 'Affine[0.5]' --metric 'CC[fixed.nii,moving.nii,1,3]' --convergence '[4,0,10]' --shrink-factors 2 --no-report)

refused() { # PATTERN PREFIX: the command on stdin failed, said PATTERN once, and wrote nothing
  local pattern="$1" prefix="$2"
  shift 2
  if timeout 60 "$@" > log 2>&1; then cat log; fail "'$pattern' was not refused"; fi
  local lines
  lines="$(grep -c "^ffdp: .*$pattern" log || true)"
  [ "$lines" -eq 1 ] || { cat log; fail "'$pattern' was said $lines times"; }
  no_files "$prefix"
}

refused 'missing.nii' a_ "$mpiexec" -n 3 "$ffdp" register -f missing.nii -m moving.nii -o a_
cp fixed.nii cut.nii && truncate -s -5000 cut.nii
refused 'cut.nii' b_ "$mpiexec" -n 3 "$ffdp" register -f cut.nii -m moving.nii -o b_

# ranks that see different files under the same name
mkdir here there
cp fixed.nii moving.nii here
cp moving.nii there
"$ffdp" synthesize --head --size 46 58 64 --spacing 3 --seed 5 -o there/fixed.nii -q
same=("$ffdp" register -f fixed.nii -m moving.nii -o "$folder/c_")
refused 'rank' c_ "$mpiexec" -n 1 -wdir "$folder/here" "${same[@]}" : -n 1 -wdir "$folder/there" "${same[@]}"

# ranks with different arguments: an image, an option that changes what is done together, and what is no option
for other in '-f other.nii' '-f fixed.nii --no-report' '-f fixed.nii --wrong' '-f fixed.nii --help'; do
  # shellcheck disable=SC2086 # several arguments
  refused 'of rank 1 are not' e_ "$mpiexec" -n 1 "$ffdp" register -m moving.nii -o e_ -f fixed.nii : -n 1 "$ffdp" register -m moving.nii -o e_ $other
done
refused 'of rank 1 are not' e_ "$mpiexec" -n 1 "$ffdp" plan -m moving.nii -f fixed.nii : -n 1 "$ffdp" register -m moving.nii -f fixed.nii -o e_

# a full disk, where a small one can be made
mkdir small
if mount -t tmpfs -o size=200k tmpfs small 2>/dev/null; then
  on_exit+=("umount $folder/small")
  refused 'small' small/d_ "$mpiexec" -n 3 "$ffdp" register -f fixed.nii -m moving.nii -o small/d_ -p fast --no-report
  [ -z "$(ls small)" ] || { ls -la small; fail "files were left on the full disk"; }
else
  echo "no tmpfs can be mounted: the full disk is left out"
fi
echo "failures end all ranks with one line"
