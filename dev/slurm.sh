#!/usr/bin/env bash
# Shards whose workers Slurm starts: a cluster of this machine alone, in a temporary folder, on ports of its own. A fit
# must equal the one in memory, and end where a worker's job is cancelled. Needs root, the package in build/lib, mirai,
# and Debian's slurm-wlm and munge (dev/setup.sh slurm-wlm munge).
#   dev/slurm.sh
# Ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/.."
. dev/env.sh
export R_LIBS=$PWD/build/lib
folder=$(mktemp -d)
export SLURM_CONF=$folder/slurm.conf
started=()

# Jobs report their end to the controller, and would wait for one that is gone.
close() {
  scancel --user=root 2> /dev/null || true
  for try in $(seq 50); do [ -z "$(squeue --noheader 2> /dev/null)" ] && break; sleep 0.2; done
  [ ${#started[@]} -eq 0 ] || kill "${started[@]}" 2> /dev/null || true
  sleep 2
  [ ${#started[@]} -eq 0 ] || kill -9 "${started[@]}" 2> /dev/null || true
  rm -rf "$folder"
}
trap close EXIT

start() {
  "$@" > "$folder/$(basename "$1").log" 2>&1 &
  started=("$!" ${started[@]+"${started[@]}"})
}

cat > "$SLURM_CONF" <<END
ClusterName=dpsosp
SlurmctldHost=$(hostname)
SlurmUser=root
AuthInfo=socket=$folder/munge.socket
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldPort=26817
SlurmdPort=26818
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName=$(hostname) CPUs=$(nproc)
PartitionName=all Nodes=ALL Default=YES
END
mkdir "$folder/state" "$folder/spool"
head -c 1024 /dev/urandom > "$folder/munge.key"
chmod 700 "$folder"
chmod 600 "$folder/munge.key"

start munged --force --foreground --socket="$folder/munge.socket" --key-file="$folder/munge.key" \
  --pid-file="$folder/munge.pid" --seed-file="$folder/munge.seed"
for try in $(seq 50); do [ -S "$folder/munge.socket" ] && break; sleep 0.2; done
start slurmctld -D
start slurmd -D
for try in $(seq 50); do sinfo -h -t idle 2> /dev/null | grep -q idle && break; sleep 0.5; done
timeout 300 Rscript dev/slurm.R || { tail -n 5 "$folder"/*.log; exit 1; }
