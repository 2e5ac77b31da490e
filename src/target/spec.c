/* SPDX-License-Identifier: PostgreSQL */
#include "target/mkfs.h"
#include "walprobe/mem.h"
#include "walprobe/target.h"
#include "walprobe/units.h"

#define IMAGE_PREFIX "image:"
#define IMAGE_LARGEST (INT64_C(16) << 40)

static bool is_image_word(const char *word)
{
	return strncmp(word, IMAGE_PREFIX, strlen(IMAGE_PREFIX)) == 0;
}

/* Exact, so that it can be typed back. */
static char *size_as_typed(int64_t bytes)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
	size_t unit = 0;

	while (unit + 1 < WP_COUNT(units) && bytes && bytes % 1024 == 0) {
		bytes /= 1024;
		unit++;
	}
	return wp_xasprintf("%" PRId64 "%s", bytes, units[unit]);
}

static int refuse_key(const struct wp_target_spec *spec, const char *item, struct wp_err *err)
{
	(void)wp_fail(err, WP_E_USAGE, 0, "unknown key \"%.*s\" in target \"%s\"",
		(int)strcspn(item, "="), item, spec->text);
	wp_err_hint(err, "An image takes size=, mount=, mkfs= and on=, as in "
			 "image:ext4:size=512MB:mount=noatime.");
	return -WP_E_USAGE;
}

static int set_text(
	const struct wp_target_spec *spec, const char *item, char **field, struct wp_err *err)
{
	const char *value = strchr(item, '=') + 1;

	if (*field)
		return wp_fail(err, WP_E_USAGE, 0, "key \"%.*s\" is given twice in target \"%s\"",
			(int)strcspn(item, "="), item, spec->text);
	if (!*value)
		return wp_fail(err, WP_E_USAGE, 0, "key \"%.*s\" has no value in target \"%s\"",
			(int)strcspn(item, "="), item, spec->text);
	*field = wp_xstrdup(value);
	return 0;
}

static int set_size(struct wp_target_spec *spec, const char *value, struct wp_err *err)
{
	if (spec->size_bytes)
		return wp_fail(err, WP_E_USAGE, 0, "key \"size\" is given twice in target \"%s\"",
			spec->text);
	if (wp_parse_size_bytes(value, &spec->size_bytes, err) < 0) {
		wp_err_prefix(err, "target \"%s\": ", spec->text);
		return -WP_E_USAGE;
	}
	if (spec->size_bytes > 0)
		return 0;
	return wp_fail(err, WP_E_USAGE, 0, "target \"%s\": size must not be 0", spec->text);
}

static int set_key(struct wp_target_spec *spec, const char *item, struct wp_err *err)
{
	if (!strchr(item, '=')) {
		(void)wp_fail(err, WP_E_USAGE, 0, "\"%s\" in target \"%s\" is not key=value", item,
			spec->text);
		wp_err_hint(err, "An image is written as in image:ext4:size=512MB:mount=noatime.");
		return -WP_E_USAGE;
	}
	if (strncmp(item, "size=", 5) == 0)
		return set_size(spec, item + 5, err);
	if (strncmp(item, "mount=", 6) == 0)
		return set_text(spec, item, &spec->mount_options, err);
	if (strncmp(item, "mkfs=", 5) == 0)
		return set_text(spec, item, &spec->mkfs_options, err);
	if (strncmp(item, "on=", 3) == 0)
		return set_text(spec, item, &spec->on, err);
	return refuse_key(spec, item, err);
}

static int check_image(struct wp_target_spec *spec, struct wp_err *err)
{
	const struct wp_mkfs *mkfs = wp_mkfs_find(spec->fstype);
	char names[256];
	char *least;

	if (!mkfs) {
		(void)wp_fail(err, WP_E_USAGE, 0, "unknown file system \"%s\" in target \"%s\"",
			spec->fstype, spec->text);
		wp_err_hint(err, "Known are %s.", wp_mkfs_names(names, sizeof(names)));
		return -WP_E_USAGE;
	}
	if (!spec->size_bytes)
		spec->size_bytes = WP_IMAGE_STANDARD_SIZE;
	if (!spec->on)
		spec->on = wp_xstrdup(".");
	if (spec->size_bytes >= mkfs->minimum_bytes && spec->size_bytes <= IMAGE_LARGEST)
		return 0;
	least = size_as_typed(mkfs->minimum_bytes);
	(void)wp_fail(err, WP_E_USAGE, 0, "target \"%s\": %s needs an image of %s to 16TB",
		spec->text, spec->fstype, least);
	wp_err_hint(err, "Give size=%s or more, or leave it out for 1GB.", least);
	free(least);
	return -WP_E_USAGE;
}

/* where: what follows "image:". */
static int parse_image(struct wp_target_spec *spec, const char *where, struct wp_err *err)
{
	size_t length = strcspn(where, ":");
	int rc = 0;

	spec->is_image = true;
	spec->fstype = wp_xstrndup(where, length);
	while (!rc && where[length]) {
		char *item;

		where += length + 1;
		length = strcspn(where, ":");
		item = wp_xstrndup(where, length);
		rc = set_key(spec, item, err);
		free(item);
	}
	return rc ? rc : check_image(spec, err);
}

static int parse_label(
	struct wp_target_spec *spec, const char *word, const char **where, struct wp_err *err)
{
	const char *equals = strchr(word, '=');

	*where = word;
	if (word[0] == '/' || word[0] == '.' || is_image_word(word) || !equals)
		return 0;
	if (equals == word) {
		(void)wp_fail(err, WP_E_USAGE, 0, "label missing in target \"%s\"", word);
		wp_err_hint(
			err, "Write LABEL=DIRECTORY, or ./%s for a directory of that name.", word);
		return -WP_E_USAGE;
	}
	spec->label = wp_xstrndup(word, (size_t)(equals - word));
	spec->has_own_label = true;
	*where = equals + 1;
	return 0;
}

static int parse_word(struct wp_target_spec *spec, const char *word, struct wp_err *err)
{
	const char *where;
	int rc;

	spec->text = wp_xstrdup(word);
	rc = parse_label(spec, word, &where, err);
	if (rc)
		return rc;
	if (!*where) {
		(void)wp_fail(err, WP_E_USAGE, 0, "directory missing in target \"%s\"", word);
		wp_err_hint(err, "A target is [LABEL=]DIRECTORY or "
				 "[LABEL=]image:FSTYPE[:key=value]...");
		return -WP_E_USAGE;
	}
	if (is_image_word(where))
		rc = parse_image(spec, where + strlen(IMAGE_PREFIX), err);
	else
		spec->path = wp_xstrdup(where);
	if (!rc && !spec->label)
		spec->label = wp_xstrdup(spec->is_image ? spec->fstype : where);
	return rc;
}

enum key {
	KEY_SIZE,
	KEY_MOUNT,
	KEY_MKFS,
	KEY_ON,
	KEY_COUNT,
};

static const char *const key_names[KEY_COUNT] = { "size", "mount", "mkfs", "on" };

/* Value of one key as it would be typed; the caller frees. */
static char *key_value(const struct wp_target_spec *spec, enum key key)
{
	switch (key) {
	case KEY_SIZE:
		return size_as_typed(spec->size_bytes);
	case KEY_MOUNT:
		return wp_xstrdup(spec->mount_options ? spec->mount_options : "defaults");
	case KEY_MKFS:
		return wp_xstrdup(spec->mkfs_options ? spec->mkfs_options : "defaults");
	default:
		return wp_xstrdup(spec->on);
	}
}

/* Both have a default label, and the same one. */
static bool collide(const struct wp_target_spec *a, const struct wp_target_spec *b)
{
	return a->is_image && b->is_image && !a->has_own_label && !b->has_own_label &&
	       strcmp(a->fstype, b->fstype) == 0;
}

static bool key_differs(
	const struct wp_target_specs *specs, const struct wp_target_spec *spec, enum key key)
{
	char *mine = key_value(spec, key);
	bool is_different = false;

	for (size_t i = 0; i < specs->count && !is_different; i++) {
		char *other;

		if (!collide(spec, &specs->items[i]))
			continue;
		other = key_value(&specs->items[i], key);
		is_different = strcmp(mine, other) != 0;
		free(other);
	}
	free(mine);
	return is_different;
}

static void append_keys(const struct wp_target_specs *specs, struct wp_target_spec *spec)
{
	if (!spec->is_image || spec->has_own_label)
		return;
	for (int key = 0; key < KEY_COUNT; key++) {
		char *longer;
		char *value;

		if (!key_differs(specs, spec, (enum key)key))
			continue;
		value = key_value(spec, (enum key)key);
		longer = wp_xasprintf("%s:%s=%s", spec->label, key_names[key], value);
		free(value);
		free(spec->label);
		spec->label = longer;
	}
}

static size_t label_uses(const struct wp_target_specs *specs, const char *label)
{
	size_t uses = 0;

	for (size_t i = 0; i < specs->count; i++)
		uses += strcmp(specs->items[i].label, label) == 0;
	return uses;
}

static bool is_own_label(const struct wp_target_specs *specs, const char *label)
{
	for (size_t i = 0; i < specs->count; i++)
		if (specs->items[i].has_own_label && strcmp(specs->items[i].label, label) == 0)
			return true;
	return false;
}

/* Give every target that is called like this and has no label of its own a number. */
static void number_all(struct wp_target_specs *specs, const char *label)
{
	/* An explicit label stays as it is, as if it were the first. */
	int number = is_own_label(specs, label) ? 2 : 1;

	for (size_t i = 0; i < specs->count; i++) {
		struct wp_target_spec *spec = &specs->items[i];
		char *numbered = NULL;

		if (spec->has_own_label || strcmp(spec->label, label) != 0)
			continue;
		do {
			free(numbered);
			numbered = wp_xasprintf("%s#%d", label, number++);
		} while (label_uses(specs, numbered));
		free(spec->label);
		spec->label = numbered;
	}
}

static int settle_labels(struct wp_target_specs *specs, struct wp_err *err)
{
	for (size_t i = 0; i < specs->count; i++)
		for (size_t j = 0; j < i; j++)
			if (specs->items[i].has_own_label && specs->items[j].has_own_label &&
				strcmp(specs->items[i].label, specs->items[j].label) == 0) {
				(void)wp_fail(err, WP_E_USAGE, 0,
					"label \"%s\" is given to two targets",
					specs->items[i].label);
				wp_err_hint(err, "Give each target a label of its own.");
				return -WP_E_USAGE;
			}
	for (size_t i = 0; i < specs->count; i++)
		append_keys(specs, &specs->items[i]);
	for (size_t i = 0; i < specs->count; i++) {
		char *label = wp_xstrdup(specs->items[i].label);

		if (!specs->items[i].has_own_label && label_uses(specs, label) > 1)
			number_all(specs, label);
		free(label);
	}
	return 0;
}

int wp_targets_parse(
	const char *const *words, size_t count, struct wp_target_specs *out, struct wp_err *err)
{
	struct wp_target_specs specs = { .items = wp_xcalloc(count, sizeof(*specs.items)),
		.count = count };
	int rc = 0;

	for (size_t i = 0; i < count && !rc; i++)
		rc = parse_word(&specs.items[i], words[i], err);
	if (!rc)
		rc = settle_labels(&specs, err);
	if (rc) {
		wp_targets_release(&specs);
		return rc;
	}
	*out = specs;
	return 0;
}

void wp_targets_release(struct wp_target_specs *specs)
{
	for (size_t i = 0; i < specs->count; i++) {
		free(specs->items[i].text);
		free(specs->items[i].label);
		free(specs->items[i].path);
		free(specs->items[i].fstype);
		free(specs->items[i].mount_options);
		free(specs->items[i].mkfs_options);
		free(specs->items[i].on);
	}
	free(specs->items);
	specs->items = NULL;
	specs->count = 0;
}
