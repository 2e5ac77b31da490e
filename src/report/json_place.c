/* SPDX-License-Identifier: PostgreSQL */
#include "json_place.h"

struct cursor {
	const char *at;
	const char *end;
};

static void skip_blanks(struct cursor *c)
{
	while (c->at < c->end && strchr(" \t\r\n", *c->at))
		c->at++;
}

/* From an opening quote to behind the closing one. */
static void skip_string(struct cursor *c)
{
	for (c->at++; c->at < c->end && *c->at != '"'; c->at++)
		if (*c->at == '\\')
			c->at++;
	if (c->at < c->end)
		c->at++;
}

static void skip_value(struct cursor *c)
{
	size_t nesting = 0;

	skip_blanks(c);
	while (c->at < c->end) {
		char ch = *c->at;

		if (!nesting && strchr(",]}", ch))
			return;
		if (ch == '"') {
			skip_string(c);
		} else {
			c->at++;
			if (ch == '{' || ch == '[')
				nesting++;
			else if (ch == '}' || ch == ']')
				nesting--;
		}
		if (!nesting && strchr("\"]}", ch))
			return;
	}
}

/* To the value of member key; false when there is none (keys with escapes are not looked into). */
static bool enter_member(struct cursor *c, const char *key)
{
	size_t length = strlen(key);

	if (c->at >= c->end || *c->at != '{')
		return false;
	c->at++;
	for (;;) {
		const char *name;
		size_t name_length;

		skip_blanks(c);
		if (c->at >= c->end || *c->at != '"')
			return false;
		name = c->at + 1;
		skip_string(c);
		name_length = (size_t)(c->at - name) - 1;
		skip_blanks(c);
		c->at++; /* the colon */
		skip_blanks(c);
		if (name_length == length && memcmp(name, key, length) == 0)
			return true;
		skip_value(c);
		skip_blanks(c);
		if (c->at >= c->end || *c->at != ',')
			return false;
		c->at++;
	}
}

static bool enter_element(struct cursor *c, size_t index)
{
	if (c->at >= c->end || *c->at != '[')
		return false;
	c->at++;
	for (size_t i = 0; i < index; i++) {
		skip_value(c);
		skip_blanks(c);
		if (c->at >= c->end || *c->at != ',')
			return false;
		c->at++;
	}
	skip_blanks(c);
	return c->at < c->end && *c->at != ']';
}

void wp_json_place(const char *text, size_t length, const struct wp_json_path *path, size_t *line,
	size_t *column)
{
	struct cursor c = { text, text + length };
	const char *found;

	skip_blanks(&c);
	found = c.at;
	for (size_t i = 0; i < path->depth; i++) {
		const struct wp_json_step *step = &path->steps[i];

		if (!(step->key ? enter_member(&c, step->key) : enter_element(&c, step->index)))
			break;
		found = c.at;
	}
	*line = 1;
	*column = 1;
	for (const char *p = text; p < found; p++) {
		if (*p == '\n') {
			(*line)++;
			*column = 1;
		} else if (((unsigned char)*p & 0xC0) != 0x80) {
			(*column)++;
		}
	}
}

const char *wp_json_path_format(const struct wp_json_path *path, char *out, size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < path->depth && used < size; i++) {
		const struct wp_json_step *step = &path->steps[i];
		int written = step->key ? snprintf(out + used, size - used, "%s%.60s", i ? "." : "",
						  step->key)
					: snprintf(out + used, size - used, "[%zu]", step->index);

		used += (size_t)written;
	}
	return out;
}
