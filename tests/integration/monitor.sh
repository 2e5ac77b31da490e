#!/bin/sh
# What the timer runs: the document and the metrics are replaced as a whole, or stay.
. "$(dirname "$0")/lib.sh"

monitor=$TESTS/../contrib/monitor/walprobe-monitor
export WALPROBE WALPROBE_STATE="$PWD/state" WALPROBE_TEXTFILE="$PWD/walprobe.prom"
mkdir place
"$monitor" place >out 2>err
status=$?
[ $status -eq 0 ] || [ $status -eq 1 ] || { cat err; fail "exit status $status"; }
[ -s state/last.json ] || fail "no document"
expect_text walprobe.prom '^walprobe_check\{check="flush-sent",target="place",status="pass"\} [01]$'
expect_text walprobe.prom '^walprobe_start_time_seconds [0-9]+$'
[ "$(ls -A state)" = last.json ] || fail "something else was left: $(ls -A state)"
# Every metric has its type once, and all its samples in one place.
awk '
/^# TYPE / { if ($3 in seen) { print "twice: " $3; bad = 1 } seen[$3]; current = $3; next }
/^#/ { next }
{ name = $0; sub(/[{ ].*/, "", name); if (name != current) { print "apart: " $0; bad = 1 } }
END { exit bad }' walprobe.prom || fail "no valid exposition"

# A place that is gone leaves what was there.
cp walprobe.prom before.prom
"$monitor" nosuchplace >out 2>err
[ $? -eq 3 ] || fail "exit status for a place that is not there"
cmp walprobe.prom before.prom || fail "the old metrics were destroyed"
[ "$(ls -A state)" = last.json ] || fail "left: $(ls -A state)"
"$monitor" >out 2>err
[ $? -eq 2 ] || fail "exit status without a place"
