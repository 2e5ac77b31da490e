#!/bin/bash
# SPDX-License-Identifier: PostgreSQL
#
# no_links.sh - a FAT file system, which has no hard links: absent with the reason, and no failure.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
need_root
need_command jq fusefat mkfs.vfat timeout
mkdir fat target
truncate -s 256M fat.img
mkfs.vfat fat.img >/dev/null || fail "mkfs.vfat"
fusefat -o rw+,allow_other,umask=077 fat.img fat >fat.log 2>&1 || skip "fusefat cannot mount here: $(tail -n 1 fat.log)"
# shellcheck disable=SC2317 # called by the trap
unmount_fat() {
	timeout 10 umount fat 2>/dev/null || umount -l fat
}
trap unmount_fat EXIT
expect_status 0 timeout 60 "$WALPROBE" append --rounds=6 --time=20ms --warmup=0s --clients=1 --recycle=link \
	--format=json fat target
json_rows append out | jq -es 'map(select(.target == "fat"))[0] | .commits_per_s == null and
	(.absent.commits_per_s | test("hard links"))' >/dev/null || fail "the row of a place without hard links"
json_rows append out | jq -es 'map(select(.target == "target"))[0].commits_per_s > 0' >/dev/null || fail "the other place"
json '.checks[] | select(.id == "links" and .target == "fat") | .status' out | grep -qx info || fail "the check"
expect_clean fat
# Recycling by rename works there.
expect_status 0 timeout 60 "$WALPROBE" append --rounds=6 --time=20ms --warmup=0s --clients=1 fat
expect_clean fat
