/* SPDX-License-Identifier: PostgreSQL */
#include "cli/append_options.h"
#include "walprobe/units.h"

const char *const wp_append_on_off[] = { "on", "off", NULL };
const char *const wp_append_versions[] = { "7.1", "12", "15", "18", NULL };
const char *const wp_append_recycles[] = { "rename", "link", "none", NULL };
const char *const wp_append_inits[] = { "zero", "sparse", NULL };

static bool is_word(const char *word, const char *name)
{
	return word && strcmp(word, name) == 0;
}

static enum wp_recycle recycle_of(const char *word, const struct wp_era *era)
{
	enum wp_recycle recycle = WP_RECYCLE_RENAME;

	if (!word)
		return era->is_link ? WP_RECYCLE_LINK : WP_RECYCLE_RENAME;
	while (strcmp(wp_recycle_name(recycle), word) != 0)
		recycle++; /* the option table has checked the word */
	return recycle;
}

int wp_append_options_read(const struct wp_append_words *words, const char *methods,
	struct wp_append_options *options, struct wp_err *err)
{
	int rc;

	wp_append_standard(options);
	if (words->pg_version)
		options->era = wp_era_find(words->pg_version);
	options->recycle = recycle_of(words->recycle, options->era);
	options->is_async = is_word(words->synchronous_commit, "off");
	options->is_sparse = is_word(words->init, "sparse");
	options->is_direct = is_word(words->direct, "on");
	options->record_bytes = words->record_bytes;
	options->image_pages = words->image_pages;
	options->think_ns = words->think_ns;
	options->commit_delay_ns = words->commit_delay_ns;
	options->commit_siblings = words->commit_siblings;
	options->segment_bytes = words->segment_bytes;
	options->segments = words->segments;
	if (words->segment_bytes & (words->segment_bytes - 1))
		return wp_fail(
			err, WP_E_USAGE, 0, "option --segment-size: it must be a power of two");
	rc = wp_method_parse_list(methods, &options->methods, err);
	if (rc)
		return rc;
	rc = wp_parse_int_list(words->clients, 1, WP_WAL_CLIENTS_MAXIMUM, options->clients,
		WP_APPEND_CLIENTS_CAPACITY, &options->client_count, err);
	if (rc)
		wp_err_prefix(err, "option --clients: ");
	return rc;
}
