#!/bin/sh
# SPDX-License-Identifier: PostgreSQL
#
# rig.sh - a file system on a disk of our own (rig_plugin.c) that is as slow, and as honest, as it is
# told.
#
#   rig.sh up NAME FSTYPE [mkfs=OPTIONS] [mount=OPTIONS] [cache=honest|lying] [KEY=VALUE...]
#                    makes it and prints the mounted directory; other keys go to the plugin
#                    (size=256M flush-delay=2ms write-delay=1ms fua=off lie=KIND, see there).
#                    cache=honest puts a volatile cache before the disk that a flush empties,
#                    cache=lying one that keeps all to itself (both are nbdkit's own). Caches and lies
#                    begin after the mkfs. FSTYPE "none" stops at the block device and prints that
#   rig.sh counts NAME     prints the flushes and the writes that the disk has seen
#   rig.sh cut NAME        kills the disk (SIGKILL): every request from now on is an I/O error
#   rig.sh on NAME         after the cut, with cache= or lie=: takes down what is dead, starts again
#                    from what is left, and mounts; exit status 4 when it does not mount.
#                    map.cut in the rig's directory then says what a lying disk did (rig_lie.h)
#   rig.sh down NAME       undoes everything, in an order that cannot hang
#   rig.sh can             exit status 0, or 77 and what is missing here
#
# Layers: nbdkit -> nbdfuse -> loop device -> file system. State lies in $TMPDIR/rig-NAME. It needs
# root. Two rigs with different names do not disturb each other.
set -u
PATH=$PATH:/usr/sbin:/sbin
here=$(cd "$(dirname "$0")" && pwd)
plugin=$here/../../build/rig/nbdkit-walprobe-rig-plugin.so

die() {
	printf 'rig: %s\n' "$*" >&2
	exit 1
}

# wait_until SECONDS COMMAND... - true as soon as the command is
wait_until() {
	left=$(($1 * 100))
	shift
	until "$@"; do
		left=$((left - 1))
		[ "$left" -gt 0 ] || return 1
		sleep 0.01
	done
}

is_mounted() {
	awk -v dir="$1" '$5 == dir { found = 1 } END { exit !found }' /proc/self/mountinfo
}

# is_running PIDFILE COMMAND - the process of that file lives and is what we started
is_running() {
	[ -s "$1" ] && grep -q "($2) [^ZX]" "/proc/$(cat "$1")/stat" 2>/dev/null
}

is_stopped() {
	! is_running "$@"
}

# No more, or somebody else's by now.
is_detached() {
	[ "$(cat "/sys/block/${1#/dev/}/loop/backing_file" 2>/dev/null)" != "$dir/disk/image" ]
}

is_filled() {
	[ -s "$1" ]
}

# kill_ours SIGNAL PIDFILE COMMAND
kill_ours() {
	is_running "$2" "$3" || return 0
	kill "-$1" "$(cat "$2")" 2>/dev/null
	wait_until 5 is_stopped "$2" "$3"
}

check_can() {
	if [ "$(id -u)" -ne 0 ]; then
		echo "the rig needs root"
		exit 77
	fi
	for command in cc pkg-config nbdkit nbdfuse fusermount3 losetup; do
		if ! command -v "$command" >/dev/null 2>&1; then
			echo "$command is not installed"
			exit 77
		fi
	done
	if ! pkg-config --exists nbdkit; then
		echo "nbdkit-plugin-dev is not installed"
		exit 77
	fi
	if [ ! -w /dev/fuse ] || ! losetup -f >/dev/null 2>&1; then
		echo "there is no /dev/fuse or no loop device here"
		exit 77
	fi
}

build_plugin() {
	[ -z "$(find "$plugin" -newer "$here/rig_plugin.c" -newer "$here/rig_lie.c" \
		-newer "$here/rig_lie.h" 2>/dev/null)" ] || return 0
	mkdir -p "${plugin%/*}" || exit 1
	# shellcheck disable=SC2046 # words
	${CC:-cc} -std=gnu11 -O2 -g -Wall -Wextra -Wconversion -Wshadow -Werror -fPIC -shared \
		$(pkg-config --cflags nbdkit) -o "$plugin.$$" "$here/rig_plugin.c" "$here/rig_lie.c" \
		-pthread || die "could not build the plugin"
	mv -f "$plugin.$$" "$plugin" || exit 1
}

# start_disk [plain] - plain: without what forgets or lies
start_disk() {
	how=${1:-$(cat "$dir/cache")}
	set --
	while IFS= read -r option; do
		case $how$option in
		plainlie=*) ;;
		*) set -- "$@" "$option" ;;
		esac
	done <"$dir/options"
	case $how in
	honest) set -- --filter=cache "$plugin" "$@" cache=writeback cache-min-block-size=4K ;;
	lying) set -- --filter=cache "$plugin" "$@" cache=unsafe cache-min-block-size=4K ;;
	*) set -- "$plugin" "$@" ;;
	esac
	rm -f "$dir/socket" "$dir/nbdkit.pid" "$dir/nbdfuse.pid"
	# In the foreground (-f) nbdkit would end with the shell that started it.
	TMPDIR=$dir nbdkit -U "$dir/socket" -P "$dir/nbdkit.pid" "$@" "counts=$dir/counts" \
		>"$dir/nbdkit.log" 2>&1 </dev/null || fail_up "nbdkit did not start" "$dir/nbdkit.log"
	setsid nbdfuse -P "$dir/nbdfuse.pid" "$dir/disk/image" --unix "$dir/socket" \
		>"$dir/nbdfuse.log" 2>&1 </dev/null &
	wait_until 10 is_filled "$dir/disk/image" || fail_up "nbdfuse did not start" "$dir/nbdfuse.log"
}

fail_up() {
	[ -z "${2:-}" ] || cat "$2" >&2
	down
	die "$1"
}

attach() {
	loop=$(losetup --direct-io=on -f --show "$dir/disk/image" 2>/dev/null ||
		losetup -f --show "$dir/disk/image") || fail_up "no loop device could be attached"
	echo "$loop" >"$dir/loop"
	# "write through" may be left over from the last user of this loop device.
	cache=/sys/block/${loop#/dev/}/queue/write_cache
	[ "$(cat "$cache")" = "write back" ] || echo "write back" >"$cache"
}

make_file_system() {
	# shellcheck disable=SC2086 # a list of options
	case $fstype in
	ext2 | ext3 | ext4) mkfs.$fstype -q -F -E nodiscard $mkfs_options "$loop" ;;
	xfs) mkfs.xfs -q -f -K $mkfs_options "$loop" ;;
	btrfs) mkfs.btrfs -q -f -K $mkfs_options "$loop" ;;
	jfs | reiserfs) mkfs.$fstype -q $mkfs_options "$loop" ;;
	*) mkfs.$fstype $mkfs_options "$loop" ;;
	esac >"$dir/mkfs.log" 2>&1 || fail_up "mkfs failed" "$dir/mkfs.log"
}

mount_it() {
	mount_options=$(cat "$dir/mount_options")
	mount -t "$(cat "$dir/fstype")" ${mount_options:+-o "$mount_options"} "$loop" "$dir/mnt" \
		2>"$dir/mount.log"
}

up() {
	fstype=$1
	shift
	mkfs_options=
	mount_options=
	volatile=
	is_kept=
	size=256M
	[ "$fstype" != xfs ] || size=320M # the least that mkfs.xfs takes is 300 MB
	words=$#
	while [ "$words" -gt 0 ]; do
		case $1 in
		mkfs=*) mkfs_options=${1#mkfs=} ;;
		mount=*) mount_options=${1#mount=} ;;
		size=*) size=${1#size=} ;;
		cache=honest | cache=lying)
			volatile=${1#cache=}
			is_kept=yes
			;;
		lie=*)
			is_kept=yes
			set -- "$@" "$1" "map=$dir/map"
			;;
		*) set -- "$@" "$1" ;;
		esac
		shift
		words=$((words - 1))
	done
	reason=$(check_can) || die "$reason"
	build_plugin
	mkdir "$dir" || die "\"$dir\" exists: rig.sh down ${dir##*/rig-}"
	mkdir "$dir/disk" "$dir/mnt"
	[ -z "$is_kept" ] || set -- "$@" "file=$dir/store"
	printf '%s\n' "size=$size" "$@" >"$dir/options"
	echo "$fstype" >"$dir/fstype"
	echo "$mount_options" >"$dir/mount_options"
	echo "$volatile" >"$dir/cache"
	start_disk plain
	attach
	[ "$fstype" = none ] || make_file_system
	if [ -n "$is_kept" ]; then
		power_off
		start_disk
		attach
	fi
	if [ "$fstype" = none ]; then
		echo "$loop"
	else
		mount_it || fail_up "mount failed" "$dir/mount.log"
		echo "$dir/mnt"
	fi
}

on() {
	[ -e "$dir/store" ] || die "there is no rig of that name with cache= or lie="
	! is_running "$dir/nbdkit.pid" nbdkit || die "it is on"
	power_off
	[ ! -e "$dir/map" ] || mv -f "$dir/map" "$dir/map.cut"
	start_disk
	attach
	if [ "$(cat "$dir/fstype")" != none ] && ! mount_it; then
		cat "$dir/mount.log" >&2
		exit 4
	fi
	echo "$dir/mnt"
}

# With a disk that answers, an ordinary umount; otherwise the disk goes first: a request that waits
# for it would keep everything above in uninterruptible sleep, and its death ends them all.
power_off() {
	if is_mounted "$dir/mnt" && is_running "$dir/nbdkit.pid" nbdkit; then
		timeout -k 1 10 umount "$dir/mnt" 2>/dev/null
	fi
	if is_mounted "$dir/mnt"; then
		kill_ours KILL "$dir/nbdkit.pid" nbdkit
		umount "$dir/mnt" 2>/dev/null || umount -l "$dir/mnt"
	fi
	if [ -s "$dir/loop" ]; then
		loop=$(cat "$dir/loop")
		# Only while it is still ours: the number may have been given to somebody else.
		if ! is_detached "$loop"; then
			losetup -d "$loop"
			wait_until 10 is_detached "$loop" || echo "rig: $loop is still in use" >&2
		fi
	fi
	kill_ours KILL "$dir/nbdkit.pid" nbdkit
	if is_mounted "$dir/disk"; then
		umount "$dir/disk" 2>/dev/null || umount -l "$dir/disk"
	fi
	# Unmounted, it has nothing left to do, but would take two seconds to see that.
	kill_ours KILL "$dir/nbdfuse.pid" nbdfuse
	if grep -q " $dir/" /proc/self/mountinfo; then
		die "\"$dir\" still holds a mount"
	fi
}

down() {
	if [ ! -d "$dir" ]; then
		return 0
	fi
	power_off
	rm -rf --one-file-system "$dir"
}

usage() {
	sed -n '4,23s/^# \{0,1\}//p' "$0" >&2
	exit 2
}

[ $# -ge 1 ] || usage
action=$1
if [ "$action" = can ]; then
	check_can
	exit 0
fi
case ${2:-} in
'' | *[!A-Za-z0-9_.-]*) usage ;;
esac
base=$(cd "${TMPDIR:-/tmp}" && pwd -P) || exit 1
dir=$base/rig-$2
shift 2
case $action in
up)
	[ $# -ge 1 ] || usage
	up "$@"
	;;
counts) od -An -t d8 "$dir/counts" | awk '{ print $1, $2 }' ;;
cut) kill_ours KILL "$dir/nbdkit.pid" nbdkit ;;
on) on ;;
down) down ;;
*) usage ;;
esac
