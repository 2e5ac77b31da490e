#!/bin/sh
# SPDX-License-Identifier: PostgreSQL
#
# layers.sh - a module includes only the floors that it stands on, and system headers by one door.
#
# The floor of src/X/ is X; the floor of include/walprobe/x.h is what its "Floor:" line says.
set -u
awk '
BEGIN {
	stands["base"] = "base"
	stands["os"] = "os base"
	stands["stats"] = "stats base"
	stands["result"] = "result base"
	stands["wal"] = "wal base os stats"
	stands["device"] = "device base os result"
	stands["pg"] = "pg base os stats"
	stands["witness"] = "witness base os stats result"
	stands["target"] = "target base os result device"
	stands["probe"] = "probe base os stats result wal device pg witness target"
	stands["import"] = "import base stats result"
	stands["report"] = "report base result"
	stands["cli"] = "cli base os stats result wal device pg witness target probe import report"

	door["unistd.h"] = door["time.h"] = door["pthread.h"] = door["semaphore.h"] = "os"
	door["netdb.h"] = door["netinet/in.h"] = door["netinet/tcp.h"] = door["sys/epoll.h"] = "os"
	door["sys/socket.h"] = door["sys/mount.h"] = door["sys/time.h"] = "os"
	door["libpq-fe.h"] = "pg"
	door["libmount/libmount.h"] = door["libmount.h"] = "device target"
	door["jansson.h"] = "report import device"
	door["libsmartcols/libsmartcols.h"] = door["libsmartcols.h"] = "report"
}
function has(list, word) { return index(" " list " ", " " word " ") > 0 }
function complain(text) { printf "%s:%d: %s\n", FILENAME, FNR, text; bad = 1 }
function floor_of_file(name, parts) {
	split(name, parts, "/")
	return parts[1] == "src" ? parts[2] : floor[parts[3]]
}
# First reading: the floor of every public header.
pass == 1 && FNR == 1 { split(FILENAME, p, "/"); header = p[3]; floor[header] = "" }
pass == 1 && floor[header] == "" && match($0, /Floor: [a-z]+/) {
	floor[header] = substr($0, RSTART + 7, RLENGTH - 7)
}
pass == 1 { next }
# Second reading: every include.
FNR == 1 {
	here = floor_of_file(FILENAME)
	if (!(here in stands))
		complain(here == "" ? "the header has no \"Floor:\" line" : "unknown floor \"" here "\"")
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
	split($0, q, "\"")
	n = split(q[2], p, "/")
	if (p[1] == "walprobe") {
		to = floor[p[2]]
		if (to == "")
			complain("no floor is known for \"" q[2] "\"")
	} else {
		to = n > 1 ? p[1] : here # a private header stays in its own directory
		if (to != here)
			complain("\"" q[2] "\" is private to src/" to)
		next
	}
	if (to != "" && !has(stands[here], to))
		complain(here " may not include \"" q[2] "\", which is " to)
}
/^[ \t]*#[ \t]*include[ \t]*</ {
	split($0, q, /[<>]/)
	if (q[2] ~ /^openssl\// && here != "witness")
		complain("<" q[2] "> belongs to src/witness alone")
	if (q[2] in door && !has(door[q[2]], here))
		complain("<" q[2] "> belongs to src/" door[q[2]] " alone")
}
END { exit bad }
' pass=1 include/walprobe/*.h pass=2 include/walprobe/*.h src/*/*.[ch]
