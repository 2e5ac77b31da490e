/* SPDX-License-Identifier: PostgreSQL */
/* Libraries, data sets and exports that make syncs vanish. */
#include "fake_os.h"
#include "harness.h"

#include "walprobe/judge.h"
#include "walprobe/mem.h"

static void libraries_that_drop_syncs_are_known_by_name(void **state)
{
	static const struct {
		const char *maps;
		const char *found;
	} rows[] = {
		{ "7f00-7f01 r-xp 00000000 08:01 42   "
		  "/usr/lib/x86_64-linux-gnu/libeatmydata.so.1.3\n"
		  "7f02-7f03 r-xp 00000000 08:01 43   /usr/lib/libc.so.6\n",
			"libeatmydata.so.1.3" },
		{ "7f00-7f01 r-xp 00000000 08:01 42   /opt/x/libnosync.so (deleted)\n",
			"libnosync.so" },
		{ "7f00-7f01 r-xp 00000000 08:01 42   /usr/lib/libjemalloc.so.2\n", NULL },
		{ "7f00-7f01 r-xp 00000000 08:01 42   /srv/notlibeatmydata\n", NULL },
		{ "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < WP_COUNT(rows); i++) {
		char *library = wp_maps_sync_dropper(rows[i].maps);

		if (rows[i].found)
			assert_string_equal(library, rows[i].found);
		else
			assert_null(library);
		free(library);
	}
}

static void zfs_says_whether_it_syncs(void **state)
{
	static const struct {
		const char *text;
		enum wp_zfs_sync sync;
	} rows[] = {
		{ "disabled\n", WP_ZFS_SYNC_DISABLED },
		{ "standard\n", WP_ZFS_SYNC_STANDARD },
		{ "always\n", WP_ZFS_SYNC_ALWAYS },
		{ "NAME     PROPERTY  VALUE     SOURCE\ntank/pg  sync      disabled  local\n",
			WP_ZFS_SYNC_DISABLED },
		{ "NAME            PROPERTY  VALUE     SOURCE\ntank/disabled   sync      standard  "
		  "default\n",
			WP_ZFS_SYNC_STANDARD },
		{ "tank/pg\tsync\tdisabled\tlocal\r\n", WP_ZFS_SYNC_DISABLED },
		{ "cannot open 'tank': dataset does not exist\n", WP_ZFS_SYNC_UNKNOWN },
		{ "tank/pg  sync", WP_ZFS_SYNC_UNKNOWN },
		{ "", WP_ZFS_SYNC_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < WP_COUNT(rows); i++)
		if (wp_zfs_sync_parse(rows[i].text) != rows[i].sync)
			fail_msg("\"%s\" gives %d", rows[i].text,
				(int)wp_zfs_sync_parse(rows[i].text));
}

static const char mountstats[] =
	"device proc mounted on /proc with fstype proc\n"
	"device nas:/srv/a mounted on /mnt/a with fstype nfs4 statvers=1.1\n"
	"\topts:\trw,vers=4.2\n"
	"\tper-op statistics\n"
	"\t        NULL: 1 1 0 44 24 0 0 0 0\n"
	"\t        WRITE: 120 120 0 983040 15840 3 200 210 0\n"
	"\t       COMMIT: 40 40 0 6000 4160 0 80 81 0\n"
	"\n"
	"device nas:/srv/b mounted on /mnt/b with fstype nfs4 statvers=1.1\n"
	"\tper-op statistics\n"
	"\t        WRITE: 7 7 0 1 1 0 0 0 0\n";

static void requests_of_a_mount_are_counted(void **state)
{
	struct wp_nfs_counts counts = { 0 };

	(void)state;
	assert_true(wp_nfs_counts_parse(mountstats, "/mnt/a", &counts));
	assert_int_equal(counts.writes, 120);
	assert_int_equal(counts.commits, 40);
	assert_true(wp_nfs_counts_parse(mountstats, "/mnt/b", &counts));
	assert_int_equal(counts.writes, 7);
	assert_int_equal(counts.commits, -1);
	assert_false(wp_nfs_counts_parse(mountstats, "/mnt", &counts));
	assert_false(wp_nfs_counts_parse("", "/mnt/a", &counts));
}

static void an_asynchronous_export_is_seen(void **state)
{
	static const char table[] = "/srv/a\tclient(rw,sync,wdelay,hide)\n"
				    "/srv/b\t*(rw,async,wdelay,hide)\n"
				    "/srv/bc\t*(ro,sync)\n";

	(void)state;
	assert_false(wp_nfs_export_is_async(table, "/srv/a"));
	assert_true(wp_nfs_export_is_async(table, "/srv/b"));
	assert_false(wp_nfs_export_is_async(table, "/srv/bc"));
	assert_false(wp_nfs_export_is_async(table, "/srv"));
}

static void what_drops_syncs_fails_the_barriers(void **state)
{
	char fstype[] = "zfs";
	char dropped[] = "ZFS tank has sync=disabled, so fsync waits for nothing";
	char unseen[] = "zfs has no block device";
	struct wp_stack stack = { .fstype = fstype, .unseen = unseen };
	struct wp_sync_evidence evidence = { .dropped = dropped };
	struct wp_flush_report report = { 0 };
	struct wp_facts facts = { .stack = &stack, .evidence = &evidence };
	struct wp_judgement out = { 0 };

	(void)state;
	wp_judge_barriers(&facts, &out);
	assert_int_equal(out.status, WP_CHECK_FAIL);
	assert_non_null(strstr(out.text, "sync=disabled"));

	memset(&out, 0, sizeof(out));
	evidence = (struct wp_sync_evidence){ .source = dropped };
	wp_judge_barriers(&facts, &out);
	assert_int_equal(out.status, WP_CHECK_UNKNOWN);

	/* files were synced on NFS and nothing left this host */
	memset(&out, 0, sizeof(out));
	facts.has_nfs = true;
	facts.flush = &report;
	wp_judge_barriers(&facts, &out);
	assert_int_equal(out.status, WP_CHECK_FAIL);
	memset(&out, 0, sizeof(out));
	facts.nfs = (struct wp_nfs_counts){ 400, 400 };
	wp_judge_barriers(&facts, &out);
	assert_int_equal(out.status, WP_CHECK_UNKNOWN);
	assert_non_null(strstr(out.observed, "COMMIT 400"));
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void make_link(const char *target, const char *path)
{
	char *words = wp_xasprintf("ln -s '%s' '%s'", target, path);

	assert_int_equal(system(words), 0);
	free(words);
}

/* A made-up /proc with one server in it. */
static void a_server_with_such_a_library_is_found(void **state)
{
	const char *base = scratch_dir();
	char *words = wp_xasprintf(
		"mkdir -p '%s/proc/4242' '%s/data/pg_wal' '%s/bin' && : >'%s/bin/postgres'", base,
		base, base, base);
	char *mount_point = NULL;
	struct wp_sync_evidence evidence;
	struct wp_stack stack = { 0 };
	char *paths[6];

	(void)state;
	assert_int_equal(system(words), 0);
	assert_int_equal(wp_os_realpath(wp_os_linux(), base, &mount_point), 0);
	stack.mount_point = mount_point;
	paths[0] = wp_xasprintf("%s/bin/postgres", mount_point);
	paths[1] = wp_xasprintf("%s/proc/4242/exe", mount_point);
	paths[2] = wp_xasprintf("%s/data", mount_point);
	paths[3] = wp_xasprintf("%s/proc/4242/cwd", mount_point);
	paths[4] = wp_xasprintf("%s/proc/4242/maps", mount_point);
	paths[5] = wp_xasprintf("%s/data/postmaster.pid", mount_point);
	make_link(paths[0], paths[1]);
	make_link(paths[2], paths[3]);
	write_file(paths[4], "7f00-7f01 r-xp 00000000 08:01 42 /usr/lib/libeatmydata.so\n");
	write_file(paths[5], "4242\n/data\n");
	free(words);
	words = wp_xasprintf("%s/proc", mount_point);
	wp_sync_evidence_find(wp_os_linux(), words, &stack, &evidence);
	assert_non_null(evidence.dropped);
	assert_non_null(strstr(evidence.dropped, "process 4242"));
	wp_sync_evidence_release(&evidence);

	/* its pg_wal is elsewhere */
	stack.mount_point[strlen(mount_point) - 1] = '!';
	wp_sync_evidence_find(wp_os_linux(), words, &stack, &evidence);
	assert_null(evidence.dropped);
	wp_sync_evidence_release(&evidence);
	for (size_t i = 0; i < WP_COUNT(paths); i++)
		free(paths[i]);
	free(words);
	free(mount_point);
	scratch_dir_remove(base);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(libraries_that_drop_syncs_are_known_by_name),
		cmocka_unit_test(zfs_says_whether_it_syncs),
		cmocka_unit_test(requests_of_a_mount_are_counted),
		cmocka_unit_test(an_asynchronous_export_is_seen),
		cmocka_unit_test(what_drops_syncs_fails_the_barriers),
		cmocka_unit_test(a_server_with_such_a_library_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
