#!/usr/bin/env bash
# Shards with workers on two hosts, simulated by network namespaces on this machine: messages over TLS, a fit that must
# equal the one in memory, and one whose second host fails. Needs root, the package in build/lib, and mirai.
#   dev/hosts.sh
# Ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/.."
. dev/env.sh
export R_LIBS=$PWD/build/lib

close() {
  for host in 1 2; do
    ip netns pids "dpsosp$host" 2> /dev/null | xargs -r kill 2> /dev/null || true
    ip netns del "dpsosp$host" 2> /dev/null || true
    ip link del "dpsosp$host" 2> /dev/null || true
  done
}
trap close EXIT
close

for host in 1 2; do
  ip netns add "dpsosp$host"
  ip link add "dpsosp$host" type veth peer name inside netns "dpsosp$host"
  ip addr add "10.77.$host.1/24" dev "dpsosp$host"
  ip link set "dpsosp$host" up
  ip -n "dpsosp$host" addr add "10.77.$host.2/24" dev inside
  ip -n "dpsosp$host" link set inside up
done
timeout 300 Rscript dev/hosts.R
