# Shared by the tests that run the program over MPI: MODE.sh PROGRAM MPIEXEC, in a folder of their own.
set -euo pipefail
ffdp="$1"
mpiexec="$2"
folder="$(mktemp -d)"
on_exit=()
finish() {
  for command in "${on_exit[@]}"; do eval "$command"; done
  rm -rf "$folder"
}
trap finish EXIT
cd "$folder"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# ranks H OPTION...: a registration over H ranks of one thread each.
ranks() {
  local count="$1"
  shift
  "$mpiexec" -n "$count" "$ffdp" register --threads 1 "$@"
}

# A head and another one, small enough for eight ranks on two cores, with a prime number of planes.
make_pair() { # SIZE... of the fixed image
  "$ffdp" synthesize --head --size "$@" --spacing 3 --seed 3 --noise 3 -o fixed.nii -q
  "$ffdp" synthesize --head --size 50 63 71 --spacing 3 --seed 4 --noise 3 --rotate 3 -4 6 --translate 3 -2 4 -o moving.nii -q
}

outputs=(0GenericAffine.mat 1Warp.nii.gz 1InverseWarp.nii.gz Warped.nii.gz InverseWarped.nii.gz)

same_files() { # PREFIX OTHER: all outputs of a registration are equal, byte by byte
  local file
  for file in "${outputs[@]}"; do
    [ -e "$1$file" ] || [ -e "$2$file" ] || continue # a linear registration has no warps
    cmp "$1$file" "$2$file" || fail "$1$file and $2$file differ"
  done
  [ -e "$10GenericAffine.mat" ] || fail "$1 was not written"
}

no_files() { # PREFIX: nothing has appeared under a final name
  local file
  for file in "${outputs[@]}" report.html; do
    [ ! -e "$1$file" ] || fail "$1$file was left behind"
  done
}
