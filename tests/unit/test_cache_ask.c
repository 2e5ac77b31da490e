/* SPDX-License-Identifier: PostgreSQL */
/* Tools of controllers and drives run from PATH: which, for which disk, and what that means. */
#include "fake_os.h"
#include "harness.h"

#include "walprobe/judge.h"
#include "walprobe/mem.h"

static char disk_name[] = "sda";
static char disk[] = "disk";
static char back[] = "write back";
static char through[] = "write through";
static char model[] = "AVAGO MR9361-8i";
static char plain_model[] = "TOSHIBA MG07ACA1";
static char driver[] = "megaraid_sas";
static char ahci[] = "ahci";
static char address[] = "0:2:0:0";
static char old_path[4096];

/* one disk, and programs of this test alone in PATH */
struct place {
	struct wp_layer layer;
	struct wp_stack stack;
	struct wp_cache_facts facts;
	struct fake_os os;
	const char *dir;
};

static void place_init(struct place *place, bool is_raid)
{
	char *path;

	memset(place, 0, sizeof(*place));
	place->layer = (struct wp_layer){
		.name = disk_name,
		.kind = disk,
		.is_leaf = true,
		.is_fua = -1,
		.is_rotational = -1,
		.write_cache = is_raid ? through : back,
		.model = is_raid ? model : plain_model,
		.host_driver = is_raid ? driver : ahci,
		.scsi_address = address,
	};
	place->stack.layers = &place->layer;
	place->stack.layer_count = place->stack.top_count = 1;
	fake_os_init(&place->os);
	place->os.euid = 0;
	place->dir = scratch_dir();
	path = wp_xasprintf("%s:/usr/bin:/bin", place->dir);
	assert_int_equal(setenv("PATH", path, 1), 0);
	free(path);
}

static void place_release(struct place *place)
{
	wp_cache_facts_release(&place->facts);
	scratch_dir_remove(place->dir);
	assert_int_equal(setenv("PATH", old_path, 1), 0);
}

static void add_tool(const struct place *place, const char *name, const char *script)
{
	char *path = wp_xasprintf("%s/%s", place->dir, name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fprintf(file, "#!/bin/sh\n%s\n", script) > 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(wp_os_chmod(wp_os_linux(), path, 0755), 0);
	free(path);
}

/* A tool that prints one of the recorded outputs. */
static void add_recorded(const struct place *place, const char *name, const char *file)
{
	char *here = NULL;
	char *script;

	assert_int_equal(wp_os_realpath(wp_os_linux(), "tests/data/controllers", &here), 0);
	script = wp_xasprintf("cat '%s/%s'", here, file);
	add_tool(place, name, script);
	free(script);
	free(here);
}

static void ask(struct place *place, wp_judge_fn *judge, struct wp_judgement *out)
{
	const struct wp_facts facts = { .stack = &place->stack, .cache = &place->facts };
	struct wp_err err = { 0 };

	memset(out, 0, sizeof(*out));
	assert_int_equal(
		wp_cache_ask(&place->os.os, &place->stack, 2 * WP_NS_PER_S, &place->facts, &err),
		0);
	judge(&facts, out);
}

static void expect(
	struct place *place, wp_judge_fn *judge, enum wp_check_status status, const char *words)
{
	struct wp_judgement out;

	ask(place, judge, &out);
	if (out.status != status || !strstr(out.text, words))
		fail_msg("%s (%s), expected %s with \"%s\"", wp_check_status_name(out.status),
			out.text, wp_check_status_name(status), words);
}

static void a_raid_volume_is_found_among_its_controller_s(void **state)
{
	struct place place;

	(void)state;
	place_init(&place, true);
	add_recorded(&place, "storcli64", "storcli-good.json");
	expect(&place, wp_judge_controller, WP_CHECK_PASS, "volume 0, sda");
	place_release(&place);

	/* the second volume's fault is not this place's */
	place_init(&place, true);
	add_recorded(&place, "MegaCli64", "megacli-second-volume-forced.txt");
	expect(&place, wp_judge_controller, WP_CHECK_PASS, "volume 0 caches writes");
	place_release(&place);

	place_init(&place, true);
	address[4] = '1'; /* target 1 is volume 1 */
	add_recorded(&place, "MegaCli64", "megacli-second-volume-forced.txt");
	expect(&place, wp_judge_controller, WP_CHECK_FAIL, "volume 1 caches writes");
	address[4] = '0';
	place_release(&place);
}

static void the_next_tool_is_asked_when_one_knows_nothing(void **state)
{
	struct place place;

	(void)state;
	place_init(&place, true);
	add_tool(&place, "storcli64", "echo 'no controller found'; exit 1");
	add_recorded(&place, "perccli64", "storcli-always-back.json");
	expect(&place, wp_judge_controller, WP_CHECK_FAIL, "even without a good battery");
	place_release(&place);
}

static void a_controller_that_was_not_asked_is_unknown(void **state)
{
	struct place place;

	(void)state;
	place_init(&place, true);
	expect(&place, wp_judge_controller, WP_CHECK_UNKNOWN, "install Broadcom's storcli");
	place_release(&place);

	place_init(&place, true);
	add_recorded(&place, "storcli64", "storcli-good.json");
	place.os.euid = 1000;
	expect(&place, wp_judge_controller, WP_CHECK_UNKNOWN, "run this as root");
	place_release(&place);

	place_init(&place, true);
	add_tool(&place, "storcli64", "exec sleep 60");
	expect(&place, wp_judge_controller, WP_CHECK_UNKNOWN, "did not end within 2 s");
	place_release(&place);

	place_init(&place, true);
	add_tool(&place, "storcli64", "kill -SEGV $$");
	expect(&place, wp_judge_controller, WP_CHECK_UNKNOWN, "told nothing");
	place_release(&place);
}

static void a_plain_disk_is_asked_by_its_own_tools(void **state)
{
	struct place place;

	(void)state;
	place_init(&place, false);
	add_tool(&place, "hdparm", "echo; echo \"$2:\"; echo ' write-caching =  1 (on)'");
	add_tool(&place, "sdparm", "echo \"    $3: ATA X\"; echo 'WCE           1  [cha: y]'");
	add_recorded(&place, "smartctl", "smartctl-x-cache-on.txt");
	expect(&place, wp_judge_write_cache, WP_CHECK_PASS, "(hdparm, sdparm, smartctl say so)");
	place_release(&place);

	/* an operator told the kernel something else */
	place_init(&place, false);
	place.layer.write_cache = through;
	add_tool(&place, "hdparm", "echo ' write-caching =  1 (on)'");
	expect(&place, wp_judge_write_cache, WP_CHECK_FAIL, "the kernel believes that it has none");
	place_release(&place);

	/* what the kernel could not confirm, the drive can */
	place_init(&place, false);
	place.layer.write_cache = through;
	add_tool(&place, "hdparm", "echo ' write-caching =  0 (off)'");
	expect(&place, wp_judge_write_cache, WP_CHECK_PASS, "sda has no volatile cache");
	place_release(&place);

	place_init(&place, false);
	add_tool(&place, "hdparm", "echo ' write-caching =  0 (off)'");
	add_tool(&place, "sdparm", "echo 'WCE           1  [cha: y]'");
	expect(&place, wp_judge_write_cache, WP_CHECK_INFO, "contradict each other");
	place_release(&place);

	place_init(&place, false);
	expect(&place, wp_judge_controller, WP_CHECK_PASS, "no RAID controller");
	place_release(&place);
}

static void nobody_asks_a_virtual_disk(void **state)
{
	struct place place;

	(void)state;
	place_init(&place, false);
	place.layer.is_virtual = true;
	add_tool(&place, "hdparm", "echo ' write-caching =  1 (on)'");
	expect(&place, wp_judge_controller, WP_CHECK_UNKNOWN, "the disk is a virtual one");
	assert_int_equal(place.facts.statement_count, 0);
	place_release(&place);
}

static void volumes_and_disks_of_a_controller_are_told_apart(void **state)
{
	static const struct {
		const char *driver;
		const char *address;
		const char *model;
		enum wp_raid_family family;
	} rows[] = {
		{ "megaraid_sas", "0:2:24:0", "AVAGO MR9361-8i", WP_RAID_MEGARAID },
		{ "megaraid_sas", "0:3:110:0", "DELL PERC H755", WP_RAID_MEGARAID },
		{ "megaraid_sas", "0:0:8:0", "INTEL SSDSC2KG019T8", WP_RAID_NONE },
		{ "hpsa", "0:1:0:0", "HP LOGICAL VOLUME", WP_RAID_SMART },
		{ "smartpqi", "0:1:0:0", "HPE LOGICAL VOLUME", WP_RAID_SMART },
		{ "smartpqi", "0:0:0:0", "HPE EG000600JWJNP", WP_RAID_NONE },
		{ "aacraid", "0:0:0:0", "Adaptec ld0", WP_RAID_ADAPTEC },
		{ "arcmsr", "0:0:0:0", "Areca ARC-1680-VOL#00", WP_RAID_ARECA },
		{ "mpt3sas", "0:0:0:0", "SEAGATE ST600MM0208", WP_RAID_NONE },
		{ "ahci", "0:0:0:0", "Samsung SSD 860", WP_RAID_NONE },
		{ NULL, NULL, "DELL PERC H710P", WP_RAID_MEGARAID },
		{ NULL, NULL, NULL, WP_RAID_NONE },
	};

	(void)state;
	for (size_t i = 0; i < WP_COUNT(rows); i++) {
		struct wp_layer layer = { .name = disk_name };

		layer.host_driver = wp_xstrdup(rows[i].driver);
		layer.scsi_address = wp_xstrdup(rows[i].address);
		layer.model = wp_xstrdup(rows[i].model);
		if (wp_raid_family_of(&layer) != rows[i].family)
			fail_msg("row %zu: %s", i, wp_raid_family_name(wp_raid_family_of(&layer)));
		free(layer.host_driver);
		free(layer.scsi_address);
		free(layer.model);
	}
	assert_true(
		wp_drive_is_layer("nvme0", &(struct wp_layer){ .name = (char[]){ "nvme0n1" } }));
	assert_false(
		wp_drive_is_layer("nvme1", &(struct wp_layer){ .name = (char[]){ "nvme10n1" } }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_raid_volume_is_found_among_its_controller_s),
		cmocka_unit_test(the_next_tool_is_asked_when_one_knows_nothing),
		cmocka_unit_test(a_controller_that_was_not_asked_is_unknown),
		cmocka_unit_test(a_plain_disk_is_asked_by_its_own_tools),
		cmocka_unit_test(nobody_asks_a_virtual_disk),
		cmocka_unit_test(volumes_and_disks_of_a_controller_are_told_apart),
	};
	const char *path = getenv("PATH");

	(void)snprintf(old_path, sizeof(old_path), "%s", path ? path : "/usr/bin:/bin");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
