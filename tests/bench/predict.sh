#!/bin/bash
# SPDX-License-Identifier: PostgreSQL
#
# predict.sh - what walprobe predicts against what PostgreSQL does, on the same places in the same rounds.
#
# Calibrated with pg_wal in memory alone. File systems in images, two methods, 1 to 8 clients, two
# scripts; with nbdkit also a disk whose flush takes 2 ms. One slice for each script and number of
# clients, all file systems in it interleaved; ends with a table, and exit status 1 when the aim is
# missed. SLICES limits the slices ("tpcb-like:8 ..."), ROUNDS and TIME their length, OUT keeps the
# documents, BENCH_WRAP is put before each slice. The servers' data are in memory: their checkpoints
# are not to reach the disk that is measured.
# shellcheck source=tests/integration/lib.sh
. "$TESTS/integration/lib.sh"
# shellcheck source=tests/rig/lib.sh
. "$TESTS/rig/lib.sh"
[ -n "${IS_LONG:-}${SLICES:-}" ] || skip "takes half an hour: make bench-predict"
need_command jq
need_root
need_fs ext4 xfs btrfs ext2
OUT=${OUT:-$(mktemp -d)}
ROUNDS=${ROUNDS:-6}
TIME=${TIME:-500ms}
SLICES=${SLICES:-$(for s in tpcb-like commit-only; do for c in 1 2 4 8; do echo "$s:$c"; done; done) rig-tpcb-like:1,2,4,8,32 rig-commit-only:1,2,4,8,32}
mkdir -p "$OUT"
cd "$OUT" || fail "no directory $OUT"

fresh_images="image:ext4 journal=image:ext4:mount=data=journal image:xfs image:btrfs image:ext2"

# slice SCRIPT CLIENTS NAME METHODS TARGET...
slice() {
	local script=$1 clients=$2 name=$3 methods=$4 like
	shift 4
	like=$OUT/calibration-$script.json
	[ -s "$name.json" ] && return
	# shellcheck disable=SC2086 # BENCH_WRAP is several words
	${BENCH_WRAP:-} "$WALPROBE" predict --check --like "$like" --method "$methods" -c "$clients" --rounds "$ROUNDS" \
		--time "$TIME" --warmup 0s --base /dev/shm -q --format json --save "$name.json" "$@" >/dev/null 2>"$name.err" </dev/null ||
		fail "predict: exit status $?: $(cat "$name.err")"
}

# A calibration is a document of a prediction; the place it predicts for is in memory too.
calibrate() { # SCRIPT
	[ -s "calibration-$1.json" ] && return
	# shellcheck disable=SC2086 # BENCH_WRAP is several words
	${BENCH_WRAP:-} "$WALPROBE" predict -b "$1" -c 1,2,4,8 --rounds 1 --time "$TIME" --warmup 0s -q --format json \
		--save "calibration-$1.json" /dev/shm >/dev/null 2>calibration.err </dev/null ||
		fail "predict: exit status $?: $(cat calibration.err)"
}

for name in $SLICES; do
	clients=${name#*:}
	script=${name%:*}
	if [ "${script#rig-}" != "$script" ]; then
		script=${script#rig-}
		calibrate "$script"
		"$rig" can >/dev/null || continue
		[ -s "rig-$script.json" ] && continue
		rig_up "predict-$script" ext4 size=1G flush-delay=2ms
		chmod 755 "$mnt"
		slice "$script" "$clients" "rig-$script" fdatasync "slow=$mnt"
		"$rig" down "predict-$script"
	else
		calibrate "$script"
		# shellcheck disable=SC2086 # several targets
		slice "$script" "$clients" "$script-$clients" fdatasync,open_datasync $fresh_images
	fi
done

rows=$(for f in *.json; do
	case $f in calibration*) continue ;; esac
	jq -c --arg file "${f%.json}" '.tables[] | select(.name == "predict") | .rows[] | select(.error_percent != null) | . + {file: $file}' "$f"
done)
printf '%-14s %-9s %-13s %7s %9s %9s %7s %12s %12s\n' slice target method clients predicted measured error% commits/sync closed%
printf '%s\n' "$rows" | jq -r '[.file, .target, .method, .clients, (.tps_predicted | round), (.tps_measured | round),
	(.error_percent | round), "\((.commits_per_sync_predicted * 100 | round) / 100)/\((.commits_per_sync_measured * 100 | round) / 100)",
	((.closed_form_error_percent // 0) | round)] | @tsv' |
	awk -F'\t' '{ printf "%-14s %-9s %-13s %7s %9s %9s %7s %12s %12s\n", $1, $2, $3, $4, $5, $6, $7, $8, $9 }'
printf '%s\n' "$rows" | jq -s -e '
def abs: if . < 0 then -. else . end;
def median: sort | if length == 0 then null elif length % 2 == 1 then .[length / 2 | floor]
	else (.[length / 2 - 1] + .[length / 2]) / 2 end;
def summary: {
	cells: length,
	median_absolute_error_percent: (map(.error_percent | abs) | median),
	median_error_percent: (map(.error_percent) | median),
	within_20_percent: ((map(select((.error_percent | abs) <= 20)) | length) / length * 100),
	commits_per_sync_error_percent: (map((.commits_per_sync_predicted / .commits_per_sync_measured - 1) * 100 | abs) | median),
	commits_per_sync_within_15_percent: ((map(select((.commits_per_sync_predicted / .commits_per_sync_measured - 1 | abs) <= 0.15)) | length) / length * 100),
	closed_form_median_absolute_error_percent: (map(.closed_form_error_percent // empty | abs) | median)
};
def ranks: [ group_by([.file, .method, .clients])[] | . as $cell | range(length) as $i | range($i + 1; length) as $j
	| [$cell[$i], $cell[$j]] | select(.[0].measured_low != null and .[1].measured_low != null)
	| select(.[0].measured_low > .[1].measured_high or .[1].measured_low > .[0].measured_high)
	| ((.[0].tps_measured - .[1].tps_measured) * (.[0].tps_predicted - .[1].tps_predicted) < 0) ];
{ all: summary, by_script: (group_by(.file | split("-")[0:2]) | map({ key: (.[0].file), value: summary }) | from_entries),
	pairs_that_differ: (ranks | length), ranked_wrongly: (ranks | map(select(.)) | length) }
| ., (.all.median_absolute_error_percent <= 10 and .all.within_20_percent >= 90 and .ranked_wrongly == 0)' >summary.out
status=$?
sed '$d' summary.out
exit $status
