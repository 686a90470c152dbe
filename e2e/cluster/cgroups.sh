# shellcheck shell=bash
# The control groups that each node's kubelet puts its pods under: CGROUP/NODE in every hierarchy of
# cgroup v1, or in the one of v2. To be sourced after lib.sh.

cgroup_version() {
  if [[ $(stat -fc %T /sys/fs/cgroup) == cgroup2fs ]]; then echo 2; else echo 1; fi
}

# cgroup_hierarchies: the mounted hierarchies, one folder a line. A link (cpu -> cpu,cpuacct) is not another one.
cgroup_hierarchies() {
  if [[ $(cgroup_version) == 2 ]]; then
    echo /sys/fs/cgroup
    return
  fi
  local folder
  for folder in /sys/fs/cgroup/*; do
    if [[ ! -L $folder && $(stat -fc %T "$folder") == cgroupfs ]]; then echo "$folder"; fi
  done
}

# In v1 a new cpuset is empty and takes no process; each level has to be filled from the one above.
fill_cpuset() {
  local folder=$1 file
  for file in cpuset.cpus cpuset.mems; do
    [[ -n $(cat "$folder/$file") ]] || cat "$(dirname "$folder")/$file" >"$folder/$file"
  done
}

# In v2 a group's children have only the controllers that it hands down.
hand_down_controllers() {
  local folder=$1 controllers controller
  read -r -a controllers <"$folder/cgroup.controllers"
  for controller in "${controllers[@]}"; do
    echo "+$controller" >"$folder/cgroup.subtree_control" 2>/dev/null || true
  done
}

make_cgroup() {
  local hierarchy=$1 folder=$1 part
  for part in "$CGROUP" "$2"; do
    if [[ $(cgroup_version) == 2 ]]; then hand_down_controllers "$folder"; fi
    folder=$folder/$part
    mkdir -p "$folder"
    if [[ -e $folder/cpuset.mems && $(cgroup_version) == 1 ]]; then fill_cpuset "$folder"; fi
  done
}

# make_node_cgroups NODE
make_node_cgroups() {
  local hierarchy
  while read -r hierarchy; do
    make_cgroup "$hierarchy" "$1"
  done < <(cgroup_hierarchies)
}

# remove_cgroups: of all nodes, also from a v2 hierarchy mounted beside those of v1, where runc makes them. The
# kernel may need a moment after the last process has ended.
remove_cgroups() {
  local folder tries
  for folder in "/sys/fs/cgroup/$CGROUP" /sys/fs/cgroup/*/"$CGROUP"; do
    for ((tries = 0; tries < 50; tries++)); do
      [[ -d $folder ]] || continue 2
      find "$folder" -depth -type d -exec rmdir {} + 2>/dev/null || true
      sleep 0.1
    done
    [[ ! -d $folder ]] || echo "left behind, still in use: $folder" >&2
  done
}
