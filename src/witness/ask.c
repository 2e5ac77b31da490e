/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/client.h"
#include "witness/link.h"

#define ASK_NS (10 * WP_NS_PER_S)

void wp_testimony_release(struct wp_testimony *answer)
{
	wp_ledger_release(&answer->ledger);
	memset(answer, 0, sizeof(*answer));
}

static int no_sense(const struct wp_link *link, struct wp_err *err)
{
	return wp_fail(err, WP_E_SERVER, 0, "the answer of the witness at \"%s\" makes no sense",
		link->where);
}

static int take_state(const struct wp_link *link, const struct wp_frame *frame,
	struct wp_testimony *answer, struct wp_err *err)
{
	struct wp_get get = { .bytes = frame->body, .size = frame->length };
	const char *problem;

	while (get.at < get.size) {
		size_t length = (size_t)wp_get_number(&get, 4);

		if (get.is_short || length > get.size - get.at ||
			!wp_ledger_apply(
				&answer->ledger, get.bytes + get.at, length, NULL, &problem))
			return no_sense(link, err);
		get.at += length;
	}
	return 0;
}

static int take_end(const struct wp_link *link, const struct wp_frame *frame,
	struct wp_testimony *answer, struct wp_err *err)
{
	struct wp_get get = { .bytes = frame->body, .size = frame->length };
	bool is_found = wp_get_number(&get, 1) != 0;

	answer->is_live = wp_get_number(&get, 1) != 0;
	answer->silent_ns = (int64_t)wp_get_number(&get, 8);
	wp_get_text(&get, answer->machine, sizeof(answer->machine));
	if (!wp_get_is_done(&get) || is_found != (answer->ledger.count == 1))
		return no_sense(link, err);
	return 0;
}

static int nack(const struct wp_link *link, const struct wp_frame *frame, struct wp_err *err)
{
	struct wp_get get = { .bytes = frame->body, .size = frame->length };
	char reason[256];

	wp_get_text(&get, reason, sizeof(reason));
	return wp_fail(err, WP_E_SERVER, 0, "the witness at \"%s\" cannot answer: %s", link->where,
		reason);
}

/* Frames up to the one of this type; those before it are for take, or are passed over. */
static int await(
	struct wp_link *link, uint8_t type, struct wp_testimony *answer, struct wp_err *err)
{
	for (;;) {
		struct wp_frame frame;
		int rc = wp_link_next(link, ASK_NS, &frame, err);

		if (rc == 0)
			return wp_fail(err, WP_E_SYS, ETIMEDOUT,
				"no answer from the witness at \"%s\"", link->where);
		if (rc < 0)
			return rc;
		if (frame.type == WP_FRAME_NACK)
			return nack(link, &frame, err);
		if (frame.type == type)
			return answer ? take_end(link, &frame, answer, err) : 0;
		if (frame.type == WP_FRAME_STATE && answer)
			rc = take_state(link, &frame, answer, err);
		if (rc < 0)
			return rc;
	}
}

int wp_client_ask(const struct wp_os *os, const struct wp_access *access, const uint8_t *run,
	const char *machine, const char *path, struct wp_testimony *answer, struct wp_err *err)
{
	static const uint8_t none[WP_RUN_ID_BYTES] = { 0 };
	uint8_t body[3 * WP_WIRE_TEXT_BYTES];
	struct wp_put put = { .bytes = body, .size = sizeof(body) };
	struct wp_link link;
	int rc;

	memset(answer, 0, sizeof(*answer));
	rc = wp_link_open(&link, os, access, ASK_NS, err);
	if (rc)
		return rc;
	wp_put_bytes(&put, run ? run : none, WP_RUN_ID_BYTES);
	wp_put_text(&put, machine);
	wp_put_text(&put, path);
	(void)wp_link_send(&link, WP_FRAME_ASK, body, put.used);
	rc = await(&link, WP_FRAME_STATE_END, answer, err);
	wp_link_close(&link);
	if (rc)
		wp_testimony_release(answer);
	return rc;
}

int wp_client_tell(const struct wp_os *os, const struct wp_access *access,
	const struct wp_put *entry, struct wp_err *err)
{
	struct wp_link link;
	int rc = wp_link_open(&link, os, access, ASK_NS, err);

	if (rc)
		return rc;
	(void)wp_link_send(&link, WP_FRAME_ENTRY, entry->bytes, entry->used);
	rc = await(&link, WP_FRAME_ACK, NULL, err);
	wp_link_close(&link);
	return rc;
}
