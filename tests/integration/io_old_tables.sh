#!/bin/sh
# SPDX-License-Identifier: PostgreSQL
# io: the tables of 2006 and 2008 in their own shapes: bonnie++ 1.03 over six file systems and caches,
# iozone's eight record sizes over four.
. "$(dirname "$0")/lib.sh"
need_loop

# Files as small as they can be: the shape is what is looked at.
quick='--quiet --rounds=1 --time=3ms --warmup=0s --size=4MB'
image() { # LABEL FSTYPE [MOUNT OPTIONS]
	printf '%s=image:%s:size=%s%s\n' "$1" "$2" "$([ "$2" = xfs ] && echo 320MB || echo 128MB)" "${3:+:mount=$3}"
}

# Old Linux and new: ext3 through the ext4 driver; the disk's cache is no option of a mount, so that
# the same file system stands there twice, as it did then.
expect_status 0 "$WALPROBE" io --tests=bonnie --record-sizes=8kB --files=1 --format=bonnie-csv-1.03 $quick --save=bonnie.json \
	"$(image ext3-writeback ext3 data=writeback)" "$(image ext3-ordered ext3 data=ordered)" \
	"$(image ext2 ext2)" "$(image ext4 ext4)" "$(image xfs-cache-off xfs)" "$(image xfs-cache-on xfs)"
awk -F, 'NF != 27 { bad = 1 } { names = names " " $1 }
	END { exit bad || NR != 6 || names != " ext3-writeback ext3-ordered ext2 ext4 xfs-cache-off xfs-cache-on" }' stdout ||
	fail "six lines of bonnie++: $(cat stdout)"
# The tools that come with bonnie++ take the newer layout.
expect_status 0 "$WALPROBE" report --format=bonnie-csv bonnie.json
mv stdout bonnie.csv
for tool in bon_csv2txt bon_csv2html; do
	command -v $tool >/dev/null || continue
	$tool <bonnie.csv >bonnie.out 2>bonnie.err || fail "$tool: $(cat bonnie.err)"
	[ ! -s bonnie.err ] || fail "$tool: $(cat bonnie.err)"
	grep -q xfs-cache-on bonnie.out || fail "$tool shows no row: $(cat bonnie.out)"
done

expect_status 0 "$WALPROBE" io --tests=iozone --record-sizes=8kB-1MB --format=iozone $quick \
	"$(image ext2 ext2)" "$(image ext3 ext3)" "$(image ext4 ext4)" "$(image xfs xfs)"
awk '$1 == "kB" && $2 == "reclen" { tables++ } tables && $1 == 4096 && NF == 10 { rows++; sizes[$2]++ }
	END { exit tables != 4 || rows != 32 || length(sizes) != 8 }' stdout ||
	fail "four tables of iozone: $(cat stdout)"
