#!/usr/bin/env bash
# run-installed.sh PREFIX: runs the installed program from another folder with an empty environment, as a user would
# whose computer has no trace of the build.
set -euo pipefail

ffdp="$1/bin/ffdp"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"

loaded="$(env -i ldd "$ffdp" | sed -n 's/.*libFFDP[^ ]* => \([^ ]*\) .*/\1/p')"
if [ -n "$loaded" ] && [ "$(realpath "$loaded" | sed 's,/[^/]*/[^/]*$,,')" != "$(realpath "$1")" ]; then
  echo "the installed program loads $loaded, which is not in $1" >&2
  exit 1
fi

env -i "$ffdp" --version
for seed in 1 2; do
  env -i "$ffdp" synthesize -q --head --size 40 44 40 --seed "$seed" -o "head$seed.nii.gz"
done
env -i "$ffdp" register -q -p fast -f head1.nii.gz -m head2.nii.gz -o out/pair_
for file in 0GenericAffine.mat 1Warp.nii.gz 1InverseWarp.nii.gz Warped.nii.gz report.html; do
  test -s "out/pair_$file"
done

# Nothing is loaded from the current folder, where others may have put it: no entry of the path is empty or relative.
for file in "$ffdp" "$1"/lib*/libFFDP.so* "$1"/lib/*/libFFDP.so*; do
  [ -f "$file" ] || continue
  path="$(readelf -d "$file" | sed -n 's/.*Library r\(un\)\?path: \[\(.*\)\]/\2/p')"
  if printf ':%s:' "$path" | grep -qE '::|:[^/$:]'; then
    echo "$file looks for libraries in the current folder: its path is '$path'" >&2
    exit 1
  fi
done
