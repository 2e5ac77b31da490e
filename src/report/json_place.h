/* SPDX-License-Identifier: PostgreSQL */
/*
 * json_place.h - where in a JSON text the value with a given path stands.
 *
 * Floor: report, private. jansson keeps no positions, so a value that parses but is wrong is found
 * again by walking the text, once, for the message.
 * Threads: yes.
 */
#ifndef WALPROBE_REPORT_JSON_PLACE_H
#define WALPROBE_REPORT_JSON_PLACE_H

#include "walprobe/base.h"

#define WP_JSON_DEPTH 8

struct wp_json_step {
	const char *key; /* member of an object; NULL: element of an array */
	size_t index;
};

struct wp_json_path {
	struct wp_json_step steps[WP_JSON_DEPTH];
	size_t depth;
};

/*
 * wp_json_place - line and column (both from 1, the column in characters) of the value at path.
 *
 * text  a valid JSON document. Where a step is missing, the value that lacks it is meant.
 */
void wp_json_place(const char *text, size_t length, const struct wp_json_path *path, size_t *line,
	size_t *column);

/* wp_json_path_format - "tables[1].rows[0].target" into out; "" for the document; returns out. */
const char *wp_json_path_format(const struct wp_json_path *path, char *out, size_t size);

#endif
