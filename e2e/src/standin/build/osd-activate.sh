# Makes the directory of one OSD from its device; on an empty device it first makes the store.
# Runs in the OSD's init container at every start.
set -euo pipefail
data=/var/lib/ceph/osd/ceph-$ROOK_OSD_ID
tool() { ceph-bluestore-tool --log-to-stderr=false "$@"; }

label=$(tool show-label --dev "$ROOK_BLOCK_PATH" 2>/dev/null || true)
if [ -n "$label" ]; then
  case "$label" in
    *"\"osd_uuid\": \"$ROOK_OSD_UUID\""*) ;;
    *) echo "$ROOK_BLOCK_PATH holds another OSD's store, not $ROOK_OSD_UUID: $label" >&2; exit 1 ;;
  esac
elif ! cmp -s -n 1048576 "$ROOK_BLOCK_PATH" /dev/zero; then
  echo "$ROOK_BLOCK_PATH is neither empty nor a store of this cluster: nothing is written to it" >&2
  exit 1
fi

case "$label" in
  *'"mkfs_done": "yes"'*) tool prime-osd-dir --dev "$ROOK_BLOCK_PATH" --path "$data" ;;
esac
ln -sfn "$ROOK_BLOCK_PATH" "$data/block"
ceph --connect-timeout 60 -n client.admin -k /etc/ceph/admin-keyring-store/keyring \
  auth get-or-create "osd.$ROOK_OSD_ID" mon 'allow profile osd' mgr 'allow profile osd' osd 'allow *' >"$data/keyring"
case "$label" in
  *'"mkfs_done": "yes"'*) ;;
  *)
    ceph-osd --mkfs --id "$ROOK_OSD_ID" --osd-uuid "$ROOK_OSD_UUID" --fsid "$FSID" \
      --osd-data "$data" --keyring "$data/keyring" --log-to-file=false
    ;;
esac
