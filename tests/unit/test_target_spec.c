/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"
#include "walprobe/target.h"

#define MB (INT64_C(1) << 20)

/* what a spec should hold */
struct want {
	const char *label;
	bool has_own_label;
	bool is_image;
	const char *path;
	const char *fstype;
	int64_t size_bytes;
	const char *mount_options;
	const char *mkfs_options;
	const char *on;
};

static void words_become_targets(void **state)
{
	static const struct {
		const char *word;
		struct want want;
	} cases[] = {
		{ "/srv/wal", { .label = "/srv/wal", .path = "/srv/wal" } },
		{ "wal", { .label = "wal", .path = "wal" } },
		{ "/a=b", { .label = "/a=b", .path = "/a=b" } },
		{ "./x=y", { .label = "./x=y", .path = "./x=y" } },
		{ "../x=y", { .label = "../x=y", .path = "../x=y" } },
		{ "a=/b", { .label = "a", .has_own_label = true, .path = "/b" } },
		{ "a=/b=c", { .label = "a", .has_own_label = true, .path = "/b=c" } },
		{ "a=b=c", { .label = "a", .has_own_label = true, .path = "b=c" } },
		{ "two words=/b", { .label = "two words", .has_own_label = true, .path = "/b" } },
		{ "image:ext4", { .label = "ext4",
					.is_image = true,
					.fstype = "ext4",
					.size_bytes = 1024 * MB,
					.on = "." } },
		{ "ext4=image:ext4:mount=data=writeback,noatime:size=512MB",
			{ .label = "ext4",
				.has_own_label = true,
				.is_image = true,
				.fstype = "ext4",
				.size_bytes = 512 * MB,
				.mount_options = "data=writeback,noatime",
				.on = "." } },
		{ "image:xfs:mkfs=-m crc=0 -i size=512:on=/srv/x=y",
			{ .label = "xfs",
				.is_image = true,
				.fstype = "xfs",
				.size_bytes = 1024 * MB,
				.mkfs_options = "-m crc=0 -i size=512",
				.on = "/srv/x=y" } },
	};

	(void)state;
	for (size_t i = 0; i < WP_COUNT(cases); i++) {
		struct wp_target_specs specs;
		struct wp_err err = { 0 };
		const struct want *want = &cases[i].want;
		const struct wp_target_spec *got;

		assert_int_equal(wp_targets_parse(&cases[i].word, 1, &specs, &err), 0);
		assert_int_equal(specs.count, 1);
		got = &specs.items[0];
		assert_string_equal(got->text, cases[i].word);
		assert_string_equal(got->label, want->label);
		assert_int_equal(got->has_own_label, want->has_own_label);
		assert_int_equal(got->is_image, want->is_image);
		assert_int_equal(got->size_bytes, want->size_bytes);
#define SAME(field)                                                                                \
	do {                                                                                       \
		assert_int_equal(got->field == NULL, want->field == NULL);                         \
		if (want->field)                                                                   \
			assert_string_equal(got->field, want->field);                              \
	} while (0)
		SAME(path);
		SAME(fstype);
		SAME(mount_options);
		SAME(mkfs_options);
		SAME(on);
#undef SAME
		wp_targets_release(&specs);
	}
}

static void wrong_words_are_refused_by_name(void **state)
{
	static const struct {
		const char *words[2];
		const char *message;
	} cases[] = {
		{ { "" }, "directory missing in target \"\"" },
		{ { "a=" }, "directory missing in target \"a=\"" },
		{ { "=x" }, "label missing in target \"=x\"" },
		{ { "image:" }, "unknown file system \"\" in target \"image:\"" },
		{ { "image:ext5" }, "unknown file system \"ext5\" in target \"image:ext5\"" },
		{ { "image:ext4:" }, "\"\" in target \"image:ext4:\" is not key=value" },
		{ { "image:ext4:noatime" },
			"\"noatime\" in target \"image:ext4:noatime\" is not key=value" },
		{ { "image:ext4:sz=1GB" }, "unknown key \"sz\" in target \"image:ext4:sz=1GB\"" },
		{ { "image:ext4:mount=" },
			"key \"mount\" has no value in target \"image:ext4:mount=\"" },
		{ { "image:ext4:on=/a:on=/b" },
			"key \"on\" is given twice in target \"image:ext4:on=/a:on=/b\"" },
		{ { "image:ext4:size=1GB:size=2GB" },
			"key \"size\" is given twice in target \"image:ext4:size=1GB:size=2GB\"" },
		{ { "image:ext4:size=512" },
			"target \"image:ext4:size=512\": unit missing in \"512\"" },
		{ { "image:ext4:size=0MB" }, "target \"image:ext4:size=0MB\": size must not be 0" },
		{ { "image:xfs:size=64MB" },
			"target \"image:xfs:size=64MB\": xfs needs an image of 300MB to 16TB" },
		{ { "image:ext4:size=17TB" },
			"target \"image:ext4:size=17TB\": ext4 needs an image of 8MB to 16TB" },
		{ { "a=/x", "a=/y" }, "label \"a\" is given to two targets" },
	};

	(void)state;
	for (size_t i = 0; i < WP_COUNT(cases); i++) {
		struct wp_target_specs specs = { NULL, 0 };
		struct wp_err err = { 0 };
		size_t count = cases[i].words[1] ? 2 : 1;

		assert_int_equal(
			wp_targets_parse(cases[i].words, count, &specs, &err), -WP_E_USAGE);
		assert_string_equal(err.message, cases[i].message);
		assert_null(specs.items);
	}
}

static void colliding_labels_tell_targets_apart(void **state)
{
	static const struct {
		const char *words[3];
		const char *labels[3];
	} cases[] = {
		{ { "image:ext4", "image:xfs" }, { "ext4", "xfs" } },
		{ { "image:ext4", "image:ext4:size=512MB" },
			{ "ext4:size=1GB", "ext4:size=512MB" } },
		{ { "image:ext4", "image:ext4:mount=barrier=0", "image:xfs" },
			{ "ext4:mount=defaults", "ext4:mount=barrier=0", "xfs" } },
		{ { "image:ext4:mkfs=-b 1024:on=/a", "image:ext4:on=/b" },
			{ "ext4:mkfs=-b 1024:on=/a", "ext4:mkfs=defaults:on=/b" } },
		{ { "image:ext4", "image:ext4" }, { "ext4#1", "ext4#2" } },
		{ { "image:ext4", "image:ext4", "image:ext4:size=1536MB" },
			{ "ext4:size=1GB#1", "ext4:size=1GB#2", "ext4:size=1536MB" } },
		{ { "/a", "/a", "/b" }, { "/a#1", "/a#2", "/b" } },
		{ { "ext4=/a", "image:ext4" }, { "ext4", "ext4#2" } },
		{ { "ext4#1=/a", "image:ext4", "image:ext4" }, { "ext4#1", "ext4#2", "ext4#3" } },
		{ { "a=image:ext4", "b=image:ext4" }, { "a", "b" } },
		{ { "a=image:ext4", "image:ext4:size=2GB" }, { "a", "ext4" } },
	};

	(void)state;
	for (size_t i = 0; i < WP_COUNT(cases); i++) {
		struct wp_target_specs specs;
		size_t count = cases[i].words[2] ? 3 : 2;

		assert_int_equal(wp_targets_parse(cases[i].words, count, &specs, NULL), 0);
		for (size_t j = 0; j < count; j++)
			assert_string_equal(specs.items[j].label, cases[i].labels[j]);
		wp_targets_release(&specs);
	}
}

static void no_words_are_no_targets(void **state)
{
	struct wp_target_specs specs;

	(void)state;
	assert_int_equal(wp_targets_parse(NULL, 0, &specs, NULL), 0);
	assert_int_equal(specs.count, 0);
	wp_targets_release(&specs);
	wp_targets_release(&specs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_become_targets),
		cmocka_unit_test(wrong_words_are_refused_by_name),
		cmocka_unit_test(colliding_labels_tell_targets_apart),
		cmocka_unit_test(no_words_are_no_targets),
	};

	return cmocka_run_group_tests_name("target_spec", tests, NULL, NULL);
}
