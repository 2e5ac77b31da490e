/* SPDX-License-Identifier: PostgreSQL */
#include "fake_os.h"
#include "harness.h"
#include "pg/cluster_internal.h"
#include "walprobe/mem.h"

static void values_are_quoted_as_the_server_reads_them(void **state)
{
	static const struct {
		const char *value;
		const char *quoted;
	} cases[] = {
		{ "", "''" },
		{ "on", "'on'" },
		{ "it's", "'it''s'" },
		{ "''", "''''''" },
		{ "a\\b", "'a\\\\b'" },
		{ "\"$user\", public # no comment", "'\"$user\", public # no comment'" },
	};

	(void)state;
	for (size_t i = 0; i < WP_COUNT(cases); i++) {
		char *quoted = wp_cluster_quote(cases[i].value);

		assert_string_equal(quoted, cases[i].quoted);
		free(quoted);
	}
}

static void settings_that_cannot_be_had_are_refused(void **state)
{
	static const struct {
		const char *word;
		const char *message; /* NULL: it can be had */
	} cases[] = {
		{ "wal_sync_method=fsync", NULL },
		{ "work_mem=", NULL },
		{ "search_path=a=b", NULL },
		{ "auto_explain.log_min_duration=1s", NULL },
		{ "fsync", "\"fsync\" is no setting of PostgreSQL in the form name=value" },
		{ "=on", "\"=on\" is no setting of PostgreSQL in the form name=value" },
		{ "a b=1", "\"a b=1\" is no setting of PostgreSQL in the form name=value" },
		{ "1a=1", "\"1a=1\" is no setting of PostgreSQL in the form name=value" },
		{ "a.=1", "\"a.=1\" is no setting of PostgreSQL in the form name=value" },
		{ "a'b=1", "\"a'b=1\" is no setting of PostgreSQL in the form name=value" },
		{ "work_mem=1\nfsync=off", "the value of setting \"work_mem\" has a line break" },
		{ "Port=5432", "setting \"port\" of a throwaway server cannot be chosen" },
		{ "data_directory=/", "setting \"data_directory\" of a throwaway server cannot be "
				      "chosen" },
		{ "include=/etc/passwd",
			"setting \"include\" of a throwaway server cannot be chosen" },
	};

	(void)state;
	for (size_t i = 0; i < WP_COUNT(cases); i++) {
		struct wp_err err = { 0 };
		int rc = wp_cluster_check_settings(&cases[i].word, 1, &err);

		assert_int_equal(rc, cases[i].message ? -WP_E_USAGE : 0);
		assert_string_equal(err.message, cases[i].message ? cases[i].message : "");
	}
}

static const struct wp_cluster_setting *setting_of(
	const struct wp_cluster *cluster, const char *name)
{
	const struct wp_cluster_setting *found = NULL;

	for (size_t i = 0; i < cluster->setting_count; i++)
		if (strcmp(cluster->settings[i].name, name) == 0) {
			assert_null(found); /* each name once */
			found = &cluster->settings[i];
		}
	return found;
}

static struct wp_cluster *settled(int major, const char *const *words, size_t count)
{
	static struct wp_pg_binaries binaries;
	const struct wp_cluster_options options = {
		.settings = words, .setting_count = count, .clients_most = 8
	};
	struct wp_cluster *cluster = wp_xcalloc(1, sizeof(*cluster));

	binaries.major = major;
	cluster->binaries = &binaries;
	cluster->socket_directory = wp_xstrdup("/it's");
	cluster->port = 20001;
	wp_cluster_settle(cluster, &options, INT64_C(1) << 30, INT64_C(64) << 20);
	return cluster;
}

static void what_is_asked_for_takes_the_place_of_what_was_chosen(void **state)
{
	static const char *const words[] = { "fsync=off", "FSYNC=on", "max_wal_size=80MB",
		"wal_sync_method=fsync", "work_mem=4MB" };
	struct wp_cluster *cluster = settled(15, words, WP_COUNT(words));

	(void)state;
	assert_string_equal(setting_of(cluster, "fsync")->value, "on");
	assert_int_equal(setting_of(cluster, "fsync")->origin, WP_CLUSTER_ASKED);
	assert_string_equal(setting_of(cluster, "max_wal_size")->value, "80MB");
	assert_string_equal(setting_of(cluster, "wal_sync_method")->value, "fsync");
	assert_string_equal(setting_of(cluster, "work_mem")->value, "4MB");
	assert_string_equal(setting_of(cluster, "min_wal_size")->value, "256MB");
	assert_string_equal(setting_of(cluster, "shared_buffers")->value, "64MB");
	assert_string_equal(setting_of(cluster, "max_connections")->value, "13");
	assert_string_equal(setting_of(cluster, "port")->value, "20001");
	assert_int_equal(setting_of(cluster, "wal_level")->origin, WP_CLUSTER_SERVER);
	assert_null(setting_of(cluster, "wal_level")->value);
	wp_cluster_release(cluster);
}

static void an_old_version_gets_no_setting_that_it_lacks(void **state)
{
	struct wp_cluster *cluster = settled(13, NULL, 0);

	(void)state;
	assert_null(setting_of(cluster, "track_wal_io_timing"));
	assert_non_null(setting_of(cluster, "full_page_writes"));
	wp_cluster_release(cluster);
}

static void the_configuration_is_replaced_not_followed(void **state)
{
	const char *const words[] = { "search_path=it's" };
	const struct wp_os *os = wp_os_linux();
	struct wp_cluster *cluster = settled(15, words, 1);
	struct wp_registry *registry = wp_registry_new(os);
	static const struct wp_user user = { .name = NULL };
	const char *scratch = scratch_dir();
	char *path = wp_xasprintf("%s/postgresql.conf", scratch);
	char *text;
	int sys_errno;
	int fd = wp_os_open(os, path, O_WRONLY | O_CREAT | O_EXCL, 0600);

	(void)state;
	assert_int_equal(wp_os_write_all(os, fd, "port = 1\n", 9, 0), 0);
	assert_int_equal(wp_os_close(os, fd), 0);
	cluster->registry = registry;
	cluster->user = &user;
	cluster->data_directory = wp_xstrdup(scratch);
	assert_int_equal(wp_cluster_write_conf(cluster, NULL), 0);
	text = wp_os_read_text(os, path, 65536, &sys_errno);
	assert_non_null(strstr(text, "\nunix_socket_directories = '/it''s'\n"));
	assert_non_null(strstr(text, "\nsearch_path = 'it''s' # asked for"));
	assert_non_null(strstr(text, "\nlisten_addresses = ''\n"));
	assert_null(strstr(text, "port = 1\n"));
	assert_null(strstr(text, "wal_level"));
	free(text);
	free(path);
	wp_cluster_release(cluster);
	wp_registry_free(registry);
	scratch_dir_remove(scratch);
}

static void a_port_that_somebody_has_is_not_taken(void **state)
{
	static const char table[] =
		"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt\n"
		"   0: 00000000:1538 00000000:0000 0A 00000000:00000000 00:00000000 00000000\n"
		"  12: 0100007F:4E21 0100007F:4E22 01 00000000:00000000 00:00000000 00000000\n";
	static const char table6[] = "  sl  local_address\n"
				     "   0: 00000000000000000000000001000000:C350 "
				     "00000000000000000000000000000000:0000 0A 00000000\n";

	(void)state;
	assert_true(wp_cluster_port_is_taken(table, 5432));
	assert_true(wp_cluster_port_is_taken(table, 20001));
	assert_false(wp_cluster_port_is_taken(table, 20002));
	assert_true(wp_cluster_port_is_taken(table6, 50000));
	assert_false(wp_cluster_port_is_taken(table6, 5432));
	assert_false(wp_cluster_port_is_taken("", 5432));
}

static void shared_buffers_follow_the_memory_within_bounds(void **state)
{
	(void)state;
	assert_int_equal(wp_cluster_memory_bytes("MemTotal:  2097152 kB\nMemFree: 1 kB\n"),
		INT64_C(128) << 20);
	assert_int_equal(wp_cluster_memory_bytes("MemTotal: 64000 kB\n"), INT64_C(32) << 20);
	assert_int_equal(wp_cluster_memory_bytes("MemTotal: 999999999 kB\n"), INT64_C(256) << 20);
	assert_int_equal(wp_cluster_memory_bytes("nonsense"), INT64_C(32) << 20);
}

static void the_end_of_a_log_is_whole_lines(void **state)
{
	char out[20];

	(void)state;
	wp_cluster_log_end("", out, sizeof(out));
	assert_string_equal(out, "");
	wp_cluster_log_end("one\ntwo\n\n", out, sizeof(out));
	assert_string_equal(out, "one|two");
	wp_cluster_log_end("a long first line\nthe\tlast line\n", out, sizeof(out));
	assert_string_equal(out, "the last line");
	wp_cluster_log_end("0123456789012345678901234567890", out, sizeof(out));
	assert_string_equal(out, "2345678901234567890");
}

static void versions_are_read_from_the_program_s_words(void **state)
{
	static const struct {
		const char *line;
		int major;
		const char *version;
	} cases[] = {
		{ "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n", 15,
			"15.18 (Debian 15.18-0+deb12u1)\n" },
		{ "postgres (PostgreSQL) 19devel", 19, "19devel" },
		{ "postgres (PostgreSQL) 18beta1", 18, "18beta1" },
		{ "postgres (PostgreSQL) 9.6.24", 9, "9.6.24" },
		{ "postgres (EnterpriseDB) 15.1", 0, NULL },
		{ "postgres (PostgreSQL) ", 0, NULL },
		{ "postgres (PostgreSQL) x", 0, NULL },
		{ "postgres (PostgreSQL) 99999999999999999999", 0, NULL },
		{ "", 0, NULL },
	};

	(void)state;
	for (size_t i = 0; i < WP_COUNT(cases); i++) {
		const char *version = NULL;
		int major = 0;

		assert_int_equal(wp_pg_version_parse(cases[i].line, &major, &version),
			cases[i].version != NULL);
		assert_int_equal(major, cases[i].major);
		if (cases[i].version)
			assert_string_equal(version, cases[i].version);
	}
}

static void programs_that_are_not_there_are_told_with_a_package_or_a_folder(void **state)
{
	const char *scratch = scratch_dir();
	struct wp_pg_binaries binaries = { .directory = NULL };
	struct wp_user user = { .name = wp_xstrdup("me") };
	struct wp_err err = { 0 };

	(void)state;
	assert_int_equal(wp_pg_binaries_find(wp_os_linux(), scratch, &user, &binaries, &err),
		-WP_E_UNSUPPORTED);
	assert_non_null(strstr(err.message, scratch));
	assert_non_null(strstr(err.hint, "/usr/lib/postgresql/VERSION/bin"));
	assert_null(binaries.directory);
	wp_user_release(&user);
	scratch_dir_remove(scratch);
}

static void each_failing_call_on_the_way_to_a_directory_is_told(void **state)
{
	const char *scratch = scratch_dir();
	static const struct wp_user user = { .name = NULL };
	struct fake_os fake;
	int64_t n = 0;

	(void)state;
	fake_os_init(&fake);
	do {
		struct wp_err err = { 0 };
		bool knows_owners = false;
		char *path = NULL;
		char name[24];
		int rc;

		(void)snprintf(name, sizeof(name), "d%d", (int)n);
		fake_os_arm(&fake, NULL, ++n, EIO);
		rc = wp_cluster_make_directory(
			&fake.os, &user, scratch, name, &path, &knows_owners, &err);
		assert_int_equal(atomic_load(&fake.open_count), 0);
		/* Closing a directory that was only looked at has no say. */
		if (rc == 0) {
			assert_true(knows_owners);
			free(path);
		} else {
			assert_non_null(strstr(err.message, name));
		}
	} while (atomic_load(&fake.failures));
	assert_true(n > 4);
	scratch_dir_remove(scratch);
}

static void a_file_system_without_owners_serves_pg_wal_but_not_data(void **state)
{
	static const int refusals[] = { EPERM, ENOSYS, EOPNOTSUPP };
	const char *scratch = scratch_dir();
	struct wp_user user = { .name = wp_xstrdup("me") };
	struct fake_os fake;

	(void)state;
	fake_os_init(&fake);
	for (size_t i = 0; i < WP_COUNT(refusals); i++) {
		struct wp_err err = { 0 };
		bool knows_owners = true;
		char *path = NULL;
		char name[24];

		(void)snprintf(name, sizeof(name), "wal%d", (int)i);
		fake_os_arm(&fake, "chmod", 1, refusals[i]);
		assert_int_equal(wp_cluster_make_directory(&fake.os, &user, scratch, name, &path,
					 &knows_owners, &err),
			0);
		assert_false(knows_owners);
		free(path);
		name[0] = 'd';
		fake_os_arm(&fake, "chmod", 1, refusals[i]);
		assert_int_equal(wp_cluster_make_directory(
					 &fake.os, &user, scratch, name, &path, NULL, &err),
			-WP_E_UNSUPPORTED);
		assert_non_null(strstr(err.hint, "knows no owners"));
	}
	wp_user_release(&user);
	scratch_dir_remove(scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_quoted_as_the_server_reads_them),
		cmocka_unit_test(settings_that_cannot_be_had_are_refused),
		cmocka_unit_test(what_is_asked_for_takes_the_place_of_what_was_chosen),
		cmocka_unit_test(an_old_version_gets_no_setting_that_it_lacks),
		cmocka_unit_test(the_configuration_is_replaced_not_followed),
		cmocka_unit_test(a_port_that_somebody_has_is_not_taken),
		cmocka_unit_test(shared_buffers_follow_the_memory_within_bounds),
		cmocka_unit_test(the_end_of_a_log_is_whole_lines),
		cmocka_unit_test(versions_are_read_from_the_program_s_words),
		cmocka_unit_test(programs_that_are_not_there_are_told_with_a_package_or_a_folder),
		cmocka_unit_test(each_failing_call_on_the_way_to_a_directory_is_told),
		cmocka_unit_test(a_file_system_without_owners_serves_pg_wal_but_not_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
