/* SPDX-License-Identifier: PostgreSQL */
/* Outputs of controller and drive tools, as posted and as cut, coloured and quoted, judged. */
#include "harness.h"

#include "walprobe/judge.h"
#include "walprobe/mem.h"

#define DIRECTORY "tests/data/controllers/"

static const struct {
	const char *file;
	wp_judge_fn *judge;
	enum wp_check_status status;
	const char *words; /* in the text */
} cases[] = {
	/* as people posted them */
	{ "megacli-wanted-back-runs-through.txt", wp_judge_controller, WP_CHECK_UNKNOWN,
		"before calling it safe" },
	{ "storcli-battery-failed-abridged.txt", wp_judge_controller, WP_CHECK_UNKNOWN,
		"performance loss, still safe" },
	{ "hpacucli-status-battery-failed.txt", wp_judge_controller, WP_CHECK_UNKNOWN,
		"still safe in the controller; replace the battery" },
	{ "hpacucli-plugin-one-line.txt", wp_judge_controller, WP_CHECK_UNKNOWN,
		"Smart Array 6i writes through" },
	{ "hdparm-off-refused-flush-fails.txt", wp_judge_write_cache, WP_CHECK_FAIL,
		"fails the FLUSH CACHE command" },
	{ "four-ways-cache-on.txt", wp_judge_write_cache, WP_CHECK_PASS,
		"hdparm, sdparm, smartctl, cache_type say so" },
	{ "hdparm-switched-off.txt", wp_judge_write_cache, WP_CHECK_PASS, "no volatile cache" },
	{ "smartctl-x-cache-on.txt", wp_judge_write_cache, WP_CHECK_INFO, "cache is on" },
	{ "lsds-table.txt", wp_judge_write_cache, WP_CHECK_INFO, "nvme1n1: write back" },
	/* one fault each */
	{ "megacli-good.txt", wp_judge_controller, WP_CHECK_PASS, "with a good battery" },
	{ "megacli-optimal-but-about-to-fail.txt", wp_judge_controller, WP_CHECK_FAIL,
		"about to fail" },
	{ "megacli-second-volume-forced.txt", wp_judge_controller, WP_CHECK_FAIL,
		"volume 1 caches writes even without" },
	{ "megacli-second-volume-disk-cache-on.txt", wp_judge_controller, WP_CHECK_FAIL,
		"volume 1: the write caches of the disks" },
	{ "megacli-learn-cycle.txt", wp_judge_controller, WP_CHECK_PASS, "charges or learns" },
	{ "megacli-no-battery.txt", wp_judge_controller, WP_CHECK_FAIL, "is missing" },
	{ "storcli-good.json", wp_judge_controller, WP_CHECK_PASS, "with a good battery" },
	{ "storcli-always-back.json", wp_judge_controller, WP_CHECK_FAIL,
		"even without a good battery" },
	{ "storcli-fell-back-to-through.json", wp_judge_controller, WP_CHECK_PASS,
		"has failed: performance loss" },
	{ "storcli-disks-default.json", wp_judge_controller, WP_CHECK_UNKNOWN,
		"caches of its disks are not known" },
	{ "storcli-replacement.json", wp_judge_controller, WP_CHECK_FAIL, "Replacement required" },
	{ "storcli-no-battery.json", wp_judge_controller, WP_CHECK_FAIL, "is missing" },
	{ "storcli-good.txt", wp_judge_controller, WP_CHECK_PASS, "with a good battery" },
	{ "storcli-second-disk-cache-on.txt", wp_judge_controller, WP_CHECK_FAIL, "volume 1, sdb" },
	{ "storcli-capacitor-failed.txt", wp_judge_controller, WP_CHECK_FAIL, "has failed" },
	{ "ssacli-good.txt", wp_judge_controller, WP_CHECK_PASS, "with a good battery" },
	{ "ssacli-capacitor-failed.txt", wp_judge_controller, WP_CHECK_PASS,
		"replace the battery" },
	{ "ssacli-drive-cache-on.txt", wp_judge_controller, WP_CHECK_FAIL, "disks behind" },
	{ "ssacli-no-battery-write-cache.txt", wp_judge_controller, WP_CHECK_FAIL,
		"even without a good battery" },
	{ "ssacli-cache-on-battery-failed.txt", wp_judge_controller, WP_CHECK_FAIL, "has failed" },
	{ "ssacli-read-cache-only.txt", wp_judge_controller, WP_CHECK_PASS, "writes through" },
	{ "arcconf-good.txt", wp_judge_controller, WP_CHECK_PASS, "with a good battery" },
	{ "arcconf-second-disk-cache-on.txt", wp_judge_controller, WP_CHECK_FAIL, "disks behind" },
	{ "arcconf-capacitor-fatal.txt", wp_judge_controller, WP_CHECK_FAIL, "has failed" },
	{ "arcconf-always-on.txt", wp_judge_controller, WP_CHECK_FAIL, "even without" },
	{ "areca-no-battery.txt", wp_judge_controller, WP_CHECK_FAIL, "is missing" },
	{ "areca-through.txt", wp_judge_controller, WP_CHECK_PASS, "writes through" },
	{ "smartctl-cache-on.json", wp_judge_write_cache, WP_CHECK_INFO, "sdb" },
	{ "nvme-no-volatile-cache.txt", wp_judge_write_cache, WP_CHECK_PASS, "nvme0 has no" },
	{ "nvme-cache-on.txt", wp_judge_write_cache, WP_CHECK_INFO, "cache is on (nvme)" },
	{ "kernel-log-raid.txt", wp_judge_write_cache, WP_CHECK_INFO, "behind a RAID controller" },
};

/* as printed in manuals and bug reports, cut out of their outputs */
static const struct {
	const char *text;
	wp_judge_fn *judge;
	enum wp_check_status status;
	const char *words;
} samples[] = {
	{ "# megacli -LDInfo -L0 -a0\nVirtual Drive: 0 (Target Id: 0)\nState               : "
	  "Optimal\nDefault Cache Policy: WriteBack, ReadAdaptive, Direct, No Write Cache if Bad "
	  "BBU\nCurrent Cache Policy: WriteBack, ReadAdaptive, Direct, No Write Cache if Bad "
	  "BBU\nDisk Cache Policy   : Enabled\nExit Code: 0x00\n",
		wp_judge_controller, WP_CHECK_FAIL, "disks behind the controller are on" },
	{ "# megacli -AdpBbuCmd -GetBbuStatus -a0\nBatteryType: CVPM02\nBattery State: Optimal\n"
	  "  Learn Cycle Active                      : No\n  Battery Pack Missing                 "
	  "   : No\n  Battery Replacement required            : No\n  Remaining Capacity Low     "
	  "             : No\n  Pack is about to fail & should be replaced : No\n",
		wp_judge_controller, WP_CHECK_UNKNOWN, "battery: good" },
	{ "{\"Controllers\":[{\"Response Data\" : { \"/c0/v0\" : [ { \"DG/VD\":\"0/0\","
	  "\"TYPE\":\"RAID1\",\"State\":\"Optl\",\"Cache\":\"RWBD\" } ],\n\"VD0 Properties\" : { "
	  "\"Write Cache(initial setting)\":\"WriteBack\", \"Disk Cache Policy\":\"Disk's "
	  "Default\",\"OS Drive Name\":\"/dev/sda\" }, \"Cachevault_Info\":[{\"Model\":"
	  "\"CVPM02\",\"State\":\"Optimal\",\"Temp\":\"23C\"}] } } ] }\n",
		wp_judge_controller, WP_CHECK_UNKNOWN, "caches of its disks" },
	{ "Smart Array P440ar in Slot 0\n   Cache Status: Permanently Disabled\n   Cache Status "
	  "Details: Cache disabled; backup power source failed to charge to an acceptable level\n  "
	  " Drive Write Cache: Disabled\n   No-Battery Write Cache: Disabled\n   Cache Backup "
	  "Power "
	  "Source: Capacitors\n   Battery/Capacitor Count: 1\n   Battery/Capacitor Status: Failed "
	  "(Replace Batteries)\n",
		wp_judge_controller, WP_CHECK_PASS, "performance loss" },
	{ "# arcconf GETCONFIG 1\n    Overall Backup Unit Status              : Not Ready\n        "
	  " Supercap Status                    : Fatal\n   Write-cache setting                     "
	  " : On when protected by battery/ZMM\n   Write-cache status                       : On\n",
		wp_judge_controller, WP_CHECK_FAIL, "has failed" },
	{ " write-caching =  1 (on)\n", wp_judge_write_cache, WP_CHECK_INFO,
		"cache is on (hdparm)" },
	{ "    WCE           1  [cha: y]\n", wp_judge_write_cache, WP_CHECK_INFO, "(sdparm)" },
	{ "Write cache is:   Enabled\n", wp_judge_write_cache, WP_CHECK_INFO, "(smartctl)" },
	{ "get-feature:0x6 (Volatile Write Cache), Current value:00000001\n", wp_judge_write_cache,
		WP_CHECK_INFO, "(nvme)" },
	{ "sd 0:1:0:0: [sda] Write cache: disabled, read cache: disabled, doesn't support DPO or "
	  "FUA\n",
		wp_judge_write_cache, WP_CHECK_INFO, "sda" },
	/* the stop-gap of a failed battery is the fault itself */
	{ "storcli64 /c0 show\n# BBU Status: Failed\n# Current Cache Policy: AlwaysWriteBack\n# "
	  "Default Cache Policy: AlwaysWriteBack\n",
		wp_judge_controller, WP_CHECK_FAIL, "even without a good battery" },
	{ "Smart Array P410i in Slot 0\n   Cache Status: Not Configured\n", wp_judge_controller,
		WP_CHECK_UNKNOWN, "writes through" },
};

static char *read_case(const char *name)
{
	char *path = wp_xasprintf(DIRECTORY "%s", name);
	int sys_errno;
	char *text = wp_os_read_text(wp_os_linux(), path, 1 << 20, &sys_errno);

	if (!text)
		fail_msg("%s cannot be read", path);
	free(path);
	return text;
}

static void judge_text(
	const char *text, size_t length, wp_judge_fn *judge, struct wp_judgement *out)
{
	char unseen[] = "no target";
	struct wp_stack stack = { .unseen = unseen };
	struct wp_cache_facts cache = { .is_saved = true };
	struct wp_facts facts = { .stack = &stack, .cache = &cache };

	memset(out, 0, sizeof(*out));
	(void)wp_cache_read(&cache, text, length, NULL, false);
	judge(&facts, out);
	wp_cache_facts_release(&cache);
}

static void expect(const char *where, const char *text, wp_judge_fn *judge,
	enum wp_check_status status, const char *words)
{
	struct wp_judgement out;

	judge_text(text, strlen(text), judge, &out);
	if (out.status != status || !strstr(out.text, words))
		fail_msg("%s: %s (%s), expected %s with \"%s\"", where,
			wp_check_status_name(out.status), out.text, wp_check_status_name(status),
			words);
	assert_true(out.expected[0] && out.observed[0]);
}

static void every_output_is_judged(void **state)
{
	(void)state;
	for (size_t i = 0; i < WP_COUNT(cases); i++) {
		char *text = read_case(cases[i].file);

		expect(cases[i].file, text, cases[i].judge, cases[i].status, cases[i].words);
		free(text);
	}
	for (size_t i = 0; i < WP_COUNT(samples); i++)
		expect(samples[i].text, samples[i].text, samples[i].judge, samples[i].status,
			samples[i].words);
}

/* A shorter text may say less, never better. */
static bool may_be(enum wp_check_status cut, enum wp_check_status whole)
{
	return cut == whole || cut == WP_CHECK_UNKNOWN || cut == WP_CHECK_INFO;
}

static void what_is_cut_off_never_makes_it_better(void **state)
{
	(void)state;
	for (size_t i = 0; i < WP_COUNT(cases); i++) {
		char *text = read_case(cases[i].file);
		size_t length = strlen(text);

		for (size_t cut = 0; cut < length; cut++) {
			struct wp_judgement out;
			bool is_line = text[cut] == '\n';

			if (!is_line && cut % 7 != 0)
				continue;
			judge_text(text, cut, cases[i].judge, &out);
			if (!may_be(out.status, cases[i].status) &&
				(is_line || out.status == WP_CHECK_PASS))
				fail_msg("%s cut at %zu: %s (%s)", cases[i].file, cut,
					wp_check_status_name(out.status), out.text);
		}
		free(text);
	}
}

/* The text with head before each line and tail after it. */
static char *dress(const char *text, const char *head, const char *tail)
{
	char *out = wp_xstrdup("");

	while (*text) {
		size_t length = strcspn(text, "\n");
		char *longer = wp_xasprintf("%s%s%.*s%s\n", out, head, (int)length, text, tail);

		free(out);
		out = longer;
		text += length + (text[length] == '\n');
	}
	return out;
}

static void dirt_changes_nothing(void **state)
{
	static const struct {
		const char *head;
		const char *tail;
		bool for_json;
	} dirt[] = { { "", "\r", true }, { "\033[0m\033[1;32m", "\033[0m", false },
		{ "> ", "", false }, { "> > ", " \r", false }, { "   ", "   ", true },
		{ "\t", "", true } };

	(void)state;
	for (size_t i = 0; i < WP_COUNT(cases); i++)
		for (size_t j = 0; j < WP_COUNT(dirt); j++) {
			char *text = read_case(cases[i].file);
			char *dirty = dress(text, dirt[j].head, dirt[j].tail);
			bool is_json = strchr(text, '{') != NULL;

			/* a table's columns move with what stands before them */
			if (dirt[j].for_json || !is_json)
				expect(cases[i].file, dirty, cases[i].judge, cases[i].status,
					cases[i].words);
			free(dirty);
			free(text);
		}
}

static void the_figures_of_a_volume_are_kept(void **state)
{
	struct wp_cache_facts facts = { 0 };
	char *text = read_case("megacli-wanted-back-runs-through.txt");
	const struct wp_volume *volume;

	(void)state;
	assert_true(wp_cache_read(&facts, text, strlen(text), NULL, false) > 5);
	assert_int_equal(facts.volume_count, 1);
	volume = &facts.volumes[0];
	assert_string_equal(volume->name, "24");
	assert_int_equal(volume->target_id, 24);
	assert_string_equal(volume->size, "1.817 TB");
	assert_string_equal(volume->strip, "256 KB");
	assert_int_equal(volume->drive_count, 1);
	assert_non_null(strstr(volume->raid_level, "Primary-0"));
	assert_int_equal(volume->default_policy, WP_POLICY_BACK);
	assert_int_equal(volume->current_policy, WP_POLICY_THROUGH);
	assert_int_equal(volume->is_back_without_battery, WP_NO);
	assert_int_equal(volume->disk_cache, WP_DISK_CACHE_DEFAULT);
	wp_cache_facts_release(&facts);
	free(text);
}

static void power_counters_are_read(void **state)
{
	struct wp_cache_facts facts = { 0 };
	char *text = read_case("nvme-no-volatile-cache.txt");

	(void)state;
	assert_true(wp_cache_read(&facts, text, strlen(text), NULL, false) > 0);
	assert_int_equal(facts.counter_count, 1);
	assert_string_equal(facts.counters[0].device, "nvme0");
	assert_int_equal(facts.counters[0].power_cycles, 52);
	assert_int_equal(facts.counters[0].unsafe_shutdowns, 17);
	wp_cache_facts_release(&facts);
	free(text);
}

static void what_no_tool_prints_is_not_understood(void **state)
{
	static const char *const texts[] = { "", "\n\n", "hello: world\n", "{}", "{\"a\": [1, 2]}",
		"total 0\ndrwxr-xr-x 2 root root 40 Jan  1 00:00 x\n" };

	(void)state;
	for (size_t i = 0; i < WP_COUNT(texts); i++) {
		struct wp_cache_facts facts = { 0 };

		assert_int_equal(wp_cache_read(&facts, texts[i], strlen(texts[i]), NULL, false), 0);
		assert_int_equal(facts.volume_count + facts.statement_count, 0);
		wp_cache_facts_release(&facts);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_output_is_judged),
		cmocka_unit_test(what_is_cut_off_never_makes_it_better),
		cmocka_unit_test(dirt_changes_nothing),
		cmocka_unit_test(the_figures_of_a_volume_are_kept),
		cmocka_unit_test(power_counters_are_read),
		cmocka_unit_test(what_no_tool_prints_is_not_understood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
