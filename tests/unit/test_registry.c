/* SPDX-License-Identifier: PostgreSQL */
#include "fake_os.h"
#include "harness.h"
#include "walprobe/mem.h"
#include "walprobe/registry.h"
#include "walprobe/stop.h"

static char undone[256];

/* argument: errno to fail with, or NULL */
static int note_undone(const struct wp_os *os, const char *name, void *argument)
{
	size_t used = strlen(undone);

	(void)os;
	(void)snprintf(undone + used, sizeof(undone) - used, "%s ", name);
	return -(int)(intptr_t)argument;
}

static int forget_undone(void **state)
{
	(void)state;
	undone[0] = '\0';
	wp_stop_reset();
	return 0;
}

static struct wp_registry *three_things(void)
{
	struct wp_registry *registry = wp_registry_new(wp_os_linux());

	(void)wp_registry_push(registry, "directory", "a", note_undone, NULL);
	(void)wp_registry_push(registry, "loop device", "b", note_undone, NULL);
	(void)wp_registry_push(registry, "mount", "c", note_undone, NULL);
	return registry;
}

static void all_is_undone_in_reverse_order(void **state)
{
	struct wp_registry *registry = three_things();

	(void)state;
	assert_int_equal(wp_registry_undo_all(registry, NULL), 0);
	assert_string_equal(undone, "c b a ");
	assert_int_equal(wp_registry_undo_all(registry, NULL), 0);
	assert_string_equal(undone, "c b a ");
	wp_registry_free(registry);
}

static void undoing_goes_on_after_a_failure_and_tells_the_first(void **state)
{
	struct wp_registry *registry = wp_registry_new(wp_os_linux());
	struct wp_err err = { 0 };

	(void)state;
	(void)wp_registry_push(registry, "directory", "a", note_undone, NULL);
	(void)wp_registry_push(registry, "file", "b", note_undone, (void *)(intptr_t)EPERM);
	(void)wp_registry_push(registry, "mount", "c", note_undone, (void *)(intptr_t)EBUSY);
	assert_int_equal(wp_registry_undo_all(registry, &err), -WP_E_SYS);
	assert_string_equal(undone, "c b a ");
	assert_string_equal(err.message, "could not remove mount \"c\": Device or resource busy");
	assert_non_null(strstr(err.hint, "walprobe cleanup"));
	wp_registry_free(registry);
}

static void a_stop_request_does_not_stop_the_undoing(void **state)
{
	struct wp_registry *registry = three_things();

	(void)state;
	wp_stop_raise(15);
	assert_int_equal(wp_registry_undo_all(registry, NULL), 0);
	assert_string_equal(undone, "c b a ");
	wp_registry_free(registry);
}

static void one_thing_can_be_undone_or_forgotten(void **state)
{
	struct wp_registry *registry = wp_registry_new(wp_os_linux());
	uint64_t a = wp_registry_push(registry, "directory", "a", note_undone, NULL);
	uint64_t b = wp_registry_push(registry, "directory", "b", note_undone, NULL);

	(void)state;
	(void)wp_registry_push(registry, "directory", "c", note_undone, NULL);
	assert_int_equal(wp_registry_undo(registry, b, NULL), 0);
	assert_string_equal(undone, "b ");
	assert_int_equal(wp_registry_undo(registry, b, NULL), 0);
	wp_registry_forget(registry, a);
	assert_int_equal(wp_registry_undo_all(registry, NULL), 0);
	assert_string_equal(undone, "b c ");
	wp_registry_free(registry);
}

static void what_came_after_a_mark_is_undone_alone(void **state)
{
	struct wp_registry *registry = three_things();
	uint64_t mark = wp_registry_mark(registry);

	(void)state;
	(void)wp_registry_push(registry, "directory", "d", note_undone, NULL);
	(void)wp_registry_push(registry, "mount", "e", note_undone, NULL);
	assert_int_equal(wp_registry_undo_since(registry, mark, NULL), 0);
	assert_string_equal(undone, "e d ");
	assert_int_equal(wp_registry_undo_since(registry, mark, NULL), 0);
	assert_int_equal(wp_registry_undo_all(registry, NULL), 0);
	assert_string_equal(undone, "e d c b a ");
	wp_registry_free(registry);
}

static void tell_kept(void *ctx, const char *what, const char *name)
{
	char *text = ctx;
	size_t used = strlen(text);

	(void)snprintf(text + used, 128 - used, "%s %s; ", what, name);
}

static void what_is_kept_is_told_and_not_undone(void **state)
{
	struct wp_registry *registry = three_things();
	char text[128] = "";

	(void)state;
	wp_registry_keep_all(registry, tell_kept, text);
	assert_string_equal(text, "directory a; loop device b; mount c; ");
	assert_int_equal(wp_registry_undo_all(registry, NULL), 0);
	assert_string_equal(undone, "");
	wp_registry_free(registry);
}

/* a mount that stays busy for so many tries; then MNT_DETACH works */
struct busy {
	struct fake_os fake;
	struct wp_os_ops ops;
	struct wp_os os;
	int busy_tries;
	int plain_calls;
	int detach_calls;
};

static int busy_umount(void *ctx, const char *path, int flags)
{
	struct busy *busy = ctx;

	(void)path;
	if (flags & 2 /* MNT_DETACH */) {
		busy->detach_calls++;
		return 0;
	}
	return ++busy->plain_calls > busy->busy_tries ? 0 : -EBUSY;
}

static int busy_sleep(void *ctx, int64_t duration_ns)
{
	(void)ctx;
	(void)duration_ns;
	return -EINTR; /* a signal came: undoing goes on */
}

static void busy_init(struct busy *busy, int tries)
{
	memset(busy, 0, sizeof(*busy));
	fake_os_init(&busy->fake);
	busy->ops = *busy->fake.os.ops;
	busy->ops.umount = busy_umount;
	busy->ops.sleep_ns = busy_sleep;
	busy->os.ops = &busy->ops;
	busy->os.ctx = busy;
	busy->busy_tries = tries;
}

static void a_busy_mount_is_tried_again(void **state)
{
	struct busy busy;

	(void)state;
	busy_init(&busy, 3);
	assert_int_equal(wp_undo_mount(&busy.os, "/mnt", NULL), 0);
	assert_int_equal(busy.plain_calls, 4);
	assert_int_equal(busy.detach_calls, 0);
}

static void a_mount_that_stays_busy_is_detached_and_told(void **state)
{
	struct wp_registry *registry;
	struct wp_err err = { 0 };
	struct busy busy;

	(void)state;
	busy_init(&busy, 1 << 30);
	registry = wp_registry_new(&busy.os);
	(void)wp_registry_push(registry, "mount", "/mnt", wp_undo_mount, NULL);
	assert_int_equal(wp_registry_undo_all(registry, &err), -WP_E_SYS);
	assert_int_equal(busy.detach_calls, 1);
	assert_non_null(strstr(err.detail, "was detached"));
	wp_registry_free(registry);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(all_is_undone_in_reverse_order, forget_undone),
		cmocka_unit_test_setup(
			undoing_goes_on_after_a_failure_and_tells_the_first, forget_undone),
		cmocka_unit_test_setup_teardown(
			a_stop_request_does_not_stop_the_undoing, forget_undone, forget_undone),
		cmocka_unit_test_setup(one_thing_can_be_undone_or_forgotten, forget_undone),
		cmocka_unit_test_setup(what_came_after_a_mark_is_undone_alone, forget_undone),
		cmocka_unit_test_setup(what_is_kept_is_told_and_not_undone, forget_undone),
		cmocka_unit_test(a_busy_mount_is_tried_again),
		cmocka_unit_test(a_mount_that_stays_busy_is_detached_and_told),
	};

	return cmocka_run_group_tests_name("registry", tests, NULL, NULL);
}
