/* SPDX-License-Identifier: PostgreSQL */
/* The walk over recorded systems: tests/data/stacks. */
#include "fake_os.h"
#include "harness.h"
#include "tree.h"

#include "walprobe/mem.h"

/* Names of the layers that keep is true of, in the order of the stack. */
static char *join(const struct wp_stack *stack, bool (*keep)(const struct wp_stack *, size_t))
{
	char *text = wp_xstrdup("");

	for (size_t i = 0; i < stack->layer_count; i++)
		if (keep(stack, i)) {
			char *longer = wp_xasprintf(
				"%s%s%s", text, *text ? " " : "", stack->layers[i].name);

			free(text);
			text = longer;
		}
	return text;
}

static bool is_any(const struct wp_stack *stack, size_t layer)
{
	return layer < stack->layer_count;
}

static bool is_counted(const struct wp_stack *stack, size_t layer)
{
	int indexes[256];
	const char *reason;
	size_t count = wp_stack_counted(stack, indexes, &reason);

	for (size_t i = 0; i < count; i++)
		if (indexes[i] == (int)layer)
			return true;
	return false;
}

/* One directory of one tree: all layers, what counts requests, where the walk ends. */
static void expect(const struct tree *tree, const char *path, const char *fstype, const char *all,
	const char *counted, const char *ends)
{
	struct wp_stack stack = { 0 };
	char *text;

	tree_find(tree, path, &stack);
	assert_string_equal(stack.fstype, fstype);
	text = join(&stack, is_any);
	assert_string_equal(text, all);
	free(text);
	text = join(&stack, is_counted);
	assert_string_equal(text, counted);
	free(text);
	text = join(&stack, wp_stack_is_end);
	assert_string_equal(text, ends);
	free(text);
	assert_true((stack.unseen == NULL) == (stack.layer_count > 0));
	wp_stack_release(&stack);
}

static const struct wp_layer *layer(const struct wp_stack *stack, const char *name)
{
	for (size_t i = 0; i < stack->layer_count; i++)
		if (strcmp(stack->layers[i].name, name) == 0)
			return &stack->layers[i];
	fail_msg("no layer %s", name);
	return NULL;
}

static void a_partition_leads_to_its_disk_with_all_that_it_says(void **state)
{
	struct tree tree;
	struct wp_stack stack = { 0 };
	const struct wp_layer *disk;

	(void)state;
	tree_unpack(&tree, "partition");
	expect(&tree, "/var/lib/postgresql", "ext4", "sda1 sda", "sda", "sda");
	tree_find(&tree, "/", &stack);
	assert_string_equal(layer(&stack, "sda1")->kind, "part");
	assert_null(layer(&stack, "sda1")->write_cache);
	disk = layer(&stack, "sda");
	assert_string_equal(disk->kind, "disk");
	assert_string_equal(disk->write_cache, "write through");
	assert_string_equal(disk->device_cache, "write back");
	assert_string_equal(disk->model, "TOSHIBA MG07ACA1");
	assert_string_equal(disk->scheduler, "mq-deadline");
	assert_int_equal(disk->rotation_rpm, 7200);
	assert_int_equal(disk->is_fua, 0);
	assert_int_equal(disk->logical_block_bytes, 512);
	assert_int_equal(disk->major, 8);
	assert_false(disk->is_virtual);
	wp_stack_release(&stack);
	tree_remove(&tree);
}

static void both_disks_of_a_stripe_are_found_once(void **state)
{
	struct tree tree;
	struct wp_stack stack = { 0 };

	(void)state;
	tree_unpack(&tree, "lvm-on-md");
	expect(&tree, "/tmp/new/pg_wal", "ext4", "dm-2 md1 sdb2 sdc2 sdb sdc", "sdb sdc",
		"sdb sdc");
	expect(&tree, "/srv", "ext4", "dm-0 sda5 sda", "sda", "sda");
	/* /tmp/newer is not below /tmp/new. */
	expect(&tree, "/tmp/newer", "ext4", "dm-0 sda5 sda", "sda", "sda");
	tree_find(&tree, "/tmp/new", &stack);
	assert_string_equal(stack.layers[0].kind, "lvm");
	assert_string_equal(stack.layers[0].alias, "vg_01-md0_1");
	assert_string_equal(layer(&stack, "md1")->kind, "raid0");
	assert_true(layer(&stack, "sdb")->is_virtual);
	wp_stack_release(&stack);
	tree_remove(&tree);
}

static void encryption_and_lvm_are_named_by_their_uuid(void **state)
{
	struct tree tree;
	struct wp_stack stack = { 0 };

	(void)state;
	tree_unpack(&tree, "luks-on-lvm");
	expect(&tree, "/var/lib/postgresql/15/main", "xfs", "dm-1 dm-0 nvme0n1p2 nvme0n1",
		"nvme0n1", "nvme0n1");
	tree_find(&tree, "/var/lib/postgresql", &stack);
	assert_string_equal(layer(&stack, "dm-1")->kind, "crypt");
	assert_string_equal(layer(&stack, "dm-0")->kind, "lvm");
	assert_int_equal(layer(&stack, "nvme0n1")->is_fua, 1);
	assert_string_equal(layer(&stack, "nvme0n1")->model, "Samsung SSD 990 PRO 1TB");
	wp_stack_release(&stack);
	tree_remove(&tree);
}

static void a_mirror_keeps_what_each_leg_says(void **state)
{
	struct tree tree;
	struct wp_stack stack = { 0 };

	(void)state;
	tree_unpack(&tree, "md-raid1");
	expect(&tree, "/", "xfs", "md0 sda sdb", "sda sdb", "sda sdb");
	tree_find(&tree, "/", &stack);
	assert_string_equal(layer(&stack, "md0")->kind, "raid1");
	assert_string_equal(layer(&stack, "sda")->write_cache, "write back");
	assert_string_equal(layer(&stack, "sdb")->write_cache, "write through");
	wp_stack_release(&stack);
	tree_remove(&tree);
}

static void multipath_nvme_is_counted_at_its_hidden_paths(void **state)
{
	struct tree tree;
	struct wp_stack stack = { 0 };

	(void)state;
	tree_unpack(&tree, "nvme-multipath");
	expect(&tree, "/", "ext4", "nvme0n1p1 nvme0n1 nvme0c0n1 nvme0c1n1", "nvme0c0n1 nvme0c1n1",
		"nvme0c0n1 nvme0c1n1");
	tree_find(&tree, "/", &stack);
	assert_string_equal(layer(&stack, "nvme0c1n1")->kind, "path");
	wp_stack_release(&stack);
	tree_remove(&tree);
}

static void all_members_of_a_btrfs_carry_it(void **state)
{
	struct tree tree;
	struct wp_stack stack = { 0 };

	(void)state;
	tree_unpack(&tree, "btrfs-two-devices");
	expect(&tree, "/var/lib/pg/wal", "btrfs", "sdb sdc", "sdb sdc", "sdb sdc");
	tree_find(&tree, "/home", &stack);
	assert_int_equal(stack.top_count, 2);
	assert_string_equal(stack.mount_point, "/");
	wp_stack_release(&stack);
	tree_remove(&tree);
}

static void loops_are_followed_into_their_file(void **state)
{
	struct tree tree;
	struct wp_stack stack = { 0 };

	(void)state;
	tree_unpack(&tree, "loop-on-ext4");
	/* Counted at the loop device itself; its file lies on vda. */
	expect(&tree, "/mnt/a", "ext4", "loop0 vda", "loop0", "vda");
	/* The image is deleted; its directory is not. */
	expect(&tree, "/mnt/b", "xfs", "loop1 vda", "loop1", "vda");
	expect(&tree, "/mnt/c", "ext4", "loop2", "loop2", "loop2");
	expect(&tree, "/mnt/d", "ext4", "loop3 loop0 vda", "loop3", "vda");
	tree_find(&tree, "/mnt/c", &stack);
	assert_null(stack.unseen);
	assert_non_null(strstr(stack.unseen_below, "memory"));
	wp_stack_release(&stack);
	tree_find(&tree, "/mnt/d", &stack);
	assert_int_equal(stack.mount_count, 3);
	assert_string_equal(stack.mounts[0].mount_point, "/mnt/d");
	assert_string_equal(stack.mounts[1].mount_point, "/mnt/a");
	assert_string_equal(stack.mounts[2].mount_point, "/");
	assert_string_equal(layer(&stack, "loop0")->backing_file, "/srv/wal image.img");
	assert_string_equal(layer(&stack, "vda")->device_cache, "write back");
	assert_true(layer(&stack, "vda")->is_virtual);
	wp_stack_release(&stack);
	tree.roots.deleted_in = "/dev/shm";
	tree_find(&tree, "/mnt/b", &stack);
	assert_int_equal(stack.layer_count, 1);
	assert_string_equal(stack.mounts[1].fstype, "tmpfs");
	wp_stack_release(&stack);
	tree_remove(&tree);
}

static void a_loop_that_bites_its_own_tail_ends_the_walk(void **state)
{
	struct tree tree;

	(void)state;
	tree_unpack(&tree, "loop-on-ext4");
	tree_write(&tree, "sys/devices/virtual/block/loop0/loop/backing_file", "/mnt/a/self.img\n");
	expect(&tree, "/mnt/a", "ext4", "loop0", "loop0", "");
	tree_remove(&tree);
}

static void a_container_sees_its_volumes_but_not_below_its_overlay(void **state)
{
	struct tree tree;
	struct wp_stack stack = { 0 };

	(void)state;
	tree_unpack(&tree, "container");
	expect(&tree, "/datastore/pg_wal", "ext4", "sda4 sda", "sda", "sda");
	/* A file mounted at /etc/resolv.conf says nothing about /etc. */
	expect(&tree, "/etc", "overlay", "", "", "");
	tree_find(&tree, "/var/lib/postgresql", &stack);
	assert_string_equal(stack.fstype, "overlay");
	assert_non_null(strstr(stack.unseen, "container"));
	wp_stack_release(&stack);
	tree_remove(&tree);
}

static void an_overlay_is_followed_to_its_upper_directory(void **state)
{
	struct tree tree;
	struct wp_stack stack = { 0 };

	(void)state;
	tree_unpack(&tree, "overlay-on-host");
	expect(&tree, "/merged/pg", "overlay", "sdb", "sdb", "sdb");
	expect(&tree, "/fast", "overlay", "sda1 sda", "sda", "sda");
	expect(&tree, "/ro", "overlay", "", "", "");
	tree_find(&tree, "/merged", &stack);
	assert_string_equal(stack.upper_dir, "/var/lib/docker/a b/diff");
	assert_string_equal(stack.mounts[1].fstype, "xfs");
	assert_false(wp_stack_has_option(&stack, "volatile"));
	wp_stack_release(&stack);
	tree_find(&tree, "/fast", &stack);
	assert_true(wp_stack_has_option(&stack, "volatile"));
	wp_stack_release(&stack);
	tree_find(&tree, "/ro", &stack);
	assert_true(stack.is_read_only);
	wp_stack_release(&stack);
	tree_remove(&tree);
}

static void mount_options_hold_those_of_the_super_block(void **state)
{
	static const struct {
		const char *path;
		const char *mount_point;
		bool has_nobarrier;
	} cases[] = {
		{ "/data/adr/wal", "/data/adr", true },
		{ "/data", "/data", true },
		{ "/data/mysql", "/data/mysql", true },
		{ "/home", "/", false },
		{ "/srv data/pg", "/srv data", true },
	};
	struct tree tree;
	struct wp_stack stack = { 0 };
	char *value;

	(void)state;
	tree_unpack(&tree, "options");
	for (size_t i = 0; i < WP_COUNT(cases); i++) {
		tree_find(&tree, cases[i].path, &stack);
		assert_string_equal(stack.mount_point, cases[i].mount_point);
		assert_int_equal(wp_stack_has_option(&stack, "nobarrier"), cases[i].has_nobarrier);
		wp_stack_release(&stack);
	}
	tree_find(&tree, "/zero", &stack);
	assert_true(wp_stack_has_option(&stack, "barrier"));
	assert_false(wp_stack_has_option(&stack, "barr"));
	value = wp_mount_option(stack.mount_options, "barrier");
	assert_string_equal(value, "0");
	free(value);
	assert_non_null(stack.unseen);
	wp_stack_release(&stack);
	tree_remove(&tree);
}

static void the_mount_on_top_wins_and_hides_what_lies_under_it(void **state)
{
	struct tree tree;
	struct wp_stack stack = { 0 };

	(void)state;
	tree_unpack(&tree, "shadowed");
	expect(&tree, "/a/b/c", "ext4", "sda3 sda", "sda", "sda");
	expect(&tree, "/twice", "xfs", "sdb sdc", "sdb sdc", "sdb sdc");
	expect(&tree, "/beside", "xfs", "sdb", "sdb", "sdb");
	expect(&tree, "/nfs/x", "nfs4", "", "", "");
	tree_find(&tree, "/nfs", &stack);
	assert_non_null(strstr(stack.unseen, "network"));
	assert_string_equal(stack.source, "server:/export");
	wp_stack_release(&stack);
	tree_remove(&tree);
}

static void a_plain_mounts_file_without_ids_will_do(void **state)
{
	struct tree tree;
	struct wp_stack stack = { 0 };

	(void)state;
	tree_unpack(&tree, "shadowed");
	tree_write(&tree, "mountinfo",
		"/dev/sda1 / ext4 rw,relatime 0 0\n"
		"/dev/sda2 /srv\\040data xfs rw 0 0\n"
		"/dev/sdb /srv\\040data ext4 rw,nobarrier 0 0\n");
	tree_find(&tree, "/srv data/x", &stack);
	assert_string_equal(stack.layers[0].name, "sdb");
	assert_true(wp_stack_has_option(&stack, "nobarrier"));
	wp_stack_release(&stack);
	tree_remove(&tree);
}

static void counters_are_summed_over_the_devices_that_count(void **state)
{
	struct tree tree;
	struct wp_stack stack = { 0 };
	struct wp_flush_counts counts;

	(void)state;
	tree_unpack(&tree, "lvm-on-md");
	tree_find(&tree, "/tmp/new", &stack);
	wp_flush_read(wp_os_linux(), &tree.roots, &stack, &counts);
	assert_true(counts.is_known);
	assert_int_equal(counts.flushes, 2 * 2331);
	assert_int_equal(counts.writes, 2 * 14182);
	assert_int_equal(counts.written_bytes, INT64_C(2) * 928688 * 512);
	assert_int_equal(counts.reads, 2 * 67879);
	wp_stack_release(&stack);
	tree_remove(&tree);
}

static void counters_that_are_not_there_are_unknown_and_never_zero(void **state)
{
	struct tree tree;
	struct wp_stack stack = { 0 };
	struct wp_flush_counts counts;

	(void)state;
	tree_unpack(&tree, "old-kernel");
	for (int i = 0; i < 2; i++) {
		tree_find(&tree, i ? "/data" : "/", &stack);
		wp_flush_read(wp_os_linux(), &tree.roots, &stack, &counts);
		assert_false(counts.is_known);
		assert_non_null(strstr(counts.unknown_reason, "5.5"));
		wp_stack_release(&stack);
	}
	tree_remove(&tree);
	tree_unpack(&tree, "shadowed");
	tree_find(&tree, "/nfs", &stack);
	wp_flush_read(wp_os_linux(), &tree.roots, &stack, &counts);
	assert_false(counts.is_known);
	assert_non_null(counts.unknown_reason);
	wp_stack_release(&stack);
	tree_remove(&tree);
}

static void a_result_gets_every_layer_from_the_top(void **state)
{
	struct tree tree;
	struct wp_stack stack = { 0 };
	struct wp_result *result = wp_result_new("inspect");
	struct wp_target_info *info = wp_result_add_target(result, "x");

	(void)state;
	tree_unpack(&tree, "partition");
	tree_find(&tree, "/", &stack);
	wp_stack_describe(&stack, "/srv", info);
	assert_string_equal(info->path, "/srv");
	assert_string_equal(info->fstype, "ext4");
	assert_non_null(strstr(info->mount_options, "errors=remount-ro"));
	assert_int_equal(info->device_count, 2);
	assert_string_equal(info->devices[0].name, "sda1");
	assert_null(info->devices[0].write_cache);
	assert_string_equal(info->devices[1].write_cache, "write through");
	wp_stack_release(&stack);
	wp_result_free(result);
	tree_remove(&tree);
}

static void a_missing_mount_table_or_directory_is_an_error_that_names_it(void **state)
{
	const struct wp_stack_roots roots = { .sys = "/sys",
		.mountinfo = "/nonexistent/mountinfo" };
	struct wp_stack stack = { 0 };
	struct wp_err err = { 0 };

	(void)state;
	assert_int_equal(wp_stack_find(wp_os_linux(), &roots, "/", &stack, &err), -WP_E_SYS);
	assert_non_null(strstr(err.message, "/nonexistent/mountinfo"));
	assert_int_equal(
		wp_stack_find(wp_os_linux(), NULL, "/nonexistent/x", &stack, &err), -WP_E_SYS);
	assert_non_null(strstr(err.message, "/nonexistent/x"));
}

static void unreadable_files_leave_gaps_and_never_a_crash(void **state)
{
	struct fake_os fake;
	struct tree tree;
	int64_t n = 1;

	(void)state;
	tree_unpack(&tree, "loop-on-ext4");
	do {
		struct wp_stack stack = { 0 };
		struct wp_err err = { 0 };

		fake_os_init(&fake);
		fake_os_arm(&fake, NULL, n++, EIO);
		assert_int_equal(wp_stack_find(&fake.os, &tree.roots, "/mnt/d", &stack, &err), 0);
		assert_string_equal(stack.fstype, "ext4");
		assert_true(stack.layer_count > 0 || stack.unseen);
		wp_stack_release(&stack);
		assert_int_equal(atomic_load(&fake.open_count), 0);
	} while (atomic_load(&fake.failures) > 0);
	assert_true(n > 20);
	tree_remove(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_partition_leads_to_its_disk_with_all_that_it_says),
		cmocka_unit_test(both_disks_of_a_stripe_are_found_once),
		cmocka_unit_test(encryption_and_lvm_are_named_by_their_uuid),
		cmocka_unit_test(a_mirror_keeps_what_each_leg_says),
		cmocka_unit_test(multipath_nvme_is_counted_at_its_hidden_paths),
		cmocka_unit_test(all_members_of_a_btrfs_carry_it),
		cmocka_unit_test(loops_are_followed_into_their_file),
		cmocka_unit_test(a_loop_that_bites_its_own_tail_ends_the_walk),
		cmocka_unit_test(a_container_sees_its_volumes_but_not_below_its_overlay),
		cmocka_unit_test(an_overlay_is_followed_to_its_upper_directory),
		cmocka_unit_test(mount_options_hold_those_of_the_super_block),
		cmocka_unit_test(the_mount_on_top_wins_and_hides_what_lies_under_it),
		cmocka_unit_test(a_plain_mounts_file_without_ids_will_do),
		cmocka_unit_test(counters_are_summed_over_the_devices_that_count),
		cmocka_unit_test(counters_that_are_not_there_are_unknown_and_never_zero),
		cmocka_unit_test(a_result_gets_every_layer_from_the_top),
		cmocka_unit_test(a_missing_mount_table_or_directory_is_an_error_that_names_it),
		cmocka_unit_test(unreadable_files_leave_gaps_and_never_a_crash),
	};

	return cmocka_run_group_tests_name("stack", tests, NULL, NULL);
}
