#!/usr/bin/env bash
# Two network namespaces are two hosts, each with a name and an address of its own, and MPI goes over TCP between them.
# Ends with 77 (skipped) where namespaces cannot be made.
source "$(dirname "$0")/common.sh" "$@"

a="ffdp-a-$$" b="ffdp-b-$$" network=10.77.0
on_exit+=("ip netns del $a 2>/dev/null || true" "ip netns del $b 2>/dev/null || true")
if ! command -v ip > /dev/null || ! ip netns add "$a" 2>/dev/null || ! ip netns add "$b" 2>/dev/null ||
   ! ip link add veth-a netns "$a" type veth peer name veth-b netns "$b" 2>/dev/null; then
  echo "no network namespaces here"
  exit 77
fi
ip -n "$a" addr add "$network.1/24" dev veth-a
ip -n "$b" addr add "$network.2/24" dev veth-b
for space in "$a" "$b"; do ip -n "$space" link set lo up; done
ip -n "$a" link set veth-a up
ip -n "$b" link set veth-b up

# What mpirun calls instead of ssh: HOST COMMAND...
cat > remote-shell <<REMOTE
#!/bin/sh
shift
exec ip netns exec $b unshare --uts sh -c "hostname $b; \$*"
REMOTE
chmod +x remote-shell

make_pair 46 58 67
options=(-f fixed.nii -m moving.nii --transform 'Greedy[0.65]' --metric 'CC[fixed.nii,moving.nii,1,3]'
         --convergence '[4x3,0,10]' --shrink-factors 2x1 --no-report -q)
"$ffdp" register --threads 2 -o alone_ "${options[@]}"
ip netns exec "$a" unshare --uts sh -c "hostname $a; exec \"\$@\"" sh \
  "$mpiexec" -H "$network.1:2,$network.2:2" -n 4 --mca plm_rsh_agent "$folder/remote-shell" \
  --mca btl tcp,self --mca btl_tcp_if_include "$network.0/24" --mca oob_tcp_if_include "$network.0/24" \
  "$ffdp" register --threads 1 -o hosts_ "${options[@]}"
same_files alone_ hosts_

sent="$(ip -n "$a" -s link show veth-a | awk '/TX:/ { getline; print $1 }')"
[ "$sent" -gt 100000 ] || fail "only $sent bytes went from one host to the other"
echo "two hosts, $sent bytes from one to the other: the same files"
