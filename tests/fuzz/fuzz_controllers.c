/* SPDX-License-Identifier: PostgreSQL */
/*
 * fuzz_controllers.c - whatever text a controller's or drive's tool prints is read within bounds,
 * and judged with a sentence.
 */
#include "walprobe/judge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void judge_text(const char *text, size_t length, struct wp_judgement out[2])
{
	char unseen[] = "no target";
	struct wp_stack stack = { .unseen = unseen };
	struct wp_cache_facts cache = { .is_saved = true };
	struct wp_facts facts = { .stack = &stack, .cache = &cache };

	memset(out, 0, 2 * sizeof(*out));
	(void)wp_cache_read(&cache, text, length, "sda", false);
	wp_judge_controller(&facts, &out[0]);
	wp_judge_write_cache(&facts, &out[1]);
	wp_cache_facts_release(&cache);
	for (int i = 0; i < 2; i++)
		if (!out[i].text[0] || !out[i].expected[0] || !out[i].observed[0])
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wp_judgement out[2];

	judge_text((const char *)data, size, out);
	return 0;
}
