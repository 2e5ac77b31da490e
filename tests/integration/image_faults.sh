#!/bin/sh
# SPDX-License-Identifier: PostgreSQL
#
# image_faults.sh - each system call on the way to a scratch file system fails once: one message,
# and nothing is left. The unit test does it; here it may use loop devices and mounts.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
need_fs ext2
unit=$(dirname "$WALPROBE")/obj/plain/unit/test_target
[ -x "$unit" ] || skip "the unit tests are not built"
WALPROBE_TEST_IMAGES=1 "$unit" || fail "test_target"
