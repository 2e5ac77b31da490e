/* SPDX-License-Identifier: PostgreSQL */
#include "import/pgbench_log.h"
#include "walprobe/mem.h"

/* seconds since the epoch that are believed: 2000 to 2100 */
#define EPOCH_MIN UINT64_C(946684800)
#define EPOCH_MAX UINT64_C(4102444800)
#define DIGITS_MAX 18

/* ---- lines ----------------------------------------------------------------------------------- */

static bool is_outcome(const char *at, size_t length, enum log_outcome *out)
{
	static const struct {
		const char *word;
		enum log_outcome outcome;
	} words[] = { { "skipped", LOG_SKIPPED }, { "failed", LOG_FAILED },
		{ "serialization", LOG_SERIALIZATION }, { "deadlock", LOG_DEADLOCK } };

	for (size_t i = 0; i < WP_COUNT(words); i++)
		if (strlen(words[i].word) == length && memcmp(at, words[i].word, length) == 0) {
			*out = words[i].outcome;
			return true;
		}
	return false;
}

bool log_parse(const char *line, size_t length, struct log_line *out)
{
	const char *at = line;
	const char *end = line + length;
	size_t count = 0;

	out->outcome = LOG_DONE;
	while (at < end) {
		const char *begin = at;
		uint64_t value = 0;

		if (count == LOG_FIELDS_MAX)
			return false;
		while (at < end && (unsigned char)(*at - '0') < 10)
			value = value * 10 + (uint64_t)(*at++ - '0');
		if (at == begin) {
			const char *space = memchr(at, ' ', (size_t)(end - at));

			if (count != 2 || !space ||
				!is_outcome(at, (size_t)(space - at), &out->outcome))
				return false;
			at = space;
		}
		if (at - begin > DIGITS_MAX)
			return false;
		out->fields[count++] = value;
		if (at < end && *at++ != ' ')
			return false;
	}
	out->count = count;
	return count >= 6;
}

static bool is_epoch(uint64_t second)
{
	return second >= EPOCH_MIN && second < EPOCH_MAX;
}

int log_form_of(const struct log_line *line)
{
	bool can_be_transaction = line->count >= 6 && line->count <= 8 &&
				  is_epoch(line->fields[4]) && line->fields[5] < 1000000 &&
				  line->fields[0] < LOG_CLIENTS_MAX;
	bool can_be_aggregate =
		(line->count == 6 || line->count == 10 || line->count == 11 || line->count >= 15) &&
		is_epoch(line->fields[0]) && line->outcome == LOG_DONE;

	if (can_be_transaction == can_be_aggregate)
		return -1;
	return can_be_transaction ? LOG_TRANSACTIONS : LOG_AGGREGATE;
}

/* ---- sums ------------------------------------------------------------------------------------ */

void log_sums_add(struct log_sums *sums, uint64_t latency_us)
{
	double latency = (double)latency_us;

	sums->min_us = sums->count == 0 || latency_us < sums->min_us ? latency_us : sums->min_us;
	sums->max_us = latency_us > sums->max_us ? latency_us : sums->max_us;
	sums->sum_us += latency;
	sums->square_us += latency * latency;
	sums->count++;
}

void log_sums_merge(struct log_sums *into, const struct log_sums *from)
{
	if (!from->count)
		return;
	into->min_us =
		into->count == 0 || from->min_us < into->min_us ? from->min_us : into->min_us;
	into->max_us = from->max_us > into->max_us ? from->max_us : into->max_us;
	into->sum_us += from->sum_us;
	into->square_us += from->square_us;
	into->count += from->count;
}

static void merge_span(struct log_span *into, const struct log_span *from)
{
	log_sums_merge(&into->sums, &from->sums);
	into->lag_sum_us += from->lag_sum_us;
	into->skipped += from->skipped;
	into->failed += from->failed;
	into->retried += from->retried;
	into->retries += from->retries;
}

struct log_span log_spans_sum(const struct wp_import_log *log, size_t from, size_t to)
{
	struct log_span sum = { .skipped = 0 };

	for (size_t i = from; i < to && i < log->span_count; i++)
		merge_span(&sum, &log->spans[i]);
	return sum;
}

/* Twice as wide, half as many, from the same begin. */
static void widen(struct wp_import_log *log)
{
	for (size_t i = 0; i < log->span_count; i += 2) {
		struct log_span both = log->spans[i];

		if (i + 1 < log->span_count)
			merge_span(&both, &log->spans[i + 1]);
		log->spans[i / 2] = both;
	}
	log->span_count = (log->span_count + 1) / 2;
	memset(log->spans + log->span_count, 0,
		(LOG_SPANS_MAX - log->span_count) * sizeof(*log->spans));
	log->span_s *= 2;
}

/* Threads' logs one behind the other: a later line may be of an earlier time. */
static void move_begin(struct wp_import_log *log, uint64_t second)
{
	for (;;) {
		uint64_t steps = (log->begin_s - second + log->span_s - 1) / log->span_s;

		if (steps <= LOG_SPANS_MAX - log->span_count) {
			memmove(log->spans + steps, log->spans,
				log->span_count * sizeof(*log->spans));
			memset(log->spans, 0, steps * sizeof(*log->spans));
			log->span_count += steps;
			log->begin_s -= steps * log->span_s;
			return;
		}
		widen(log);
	}
}

struct log_span *log_span_at(struct wp_import_log *log, uint64_t second)
{
	size_t index;

	if (log->span_count == 0)
		log->begin_s = second;
	if (second < log->begin_s)
		move_begin(log, second);
	while ((second - log->begin_s) / log->span_s >= LOG_SPANS_MAX)
		widen(log);
	index = (size_t)((second - log->begin_s) / log->span_s);
	if (index >= log->span_count)
		log->span_count = index + 1;
	return &log->spans[index];
}

/* ---- transactions ---------------------------------------------------------------------------- */

static void count_client(struct wp_import_log *log, uint64_t id, uint64_t number)
{
	struct log_client *client;

	if (id >= log->client_room) {
		size_t room = (size_t)id * 2 + 64;

		log->clients = wp_xreallocarray(log->clients, room, sizeof(*log->clients));
		memset(log->clients + log->client_room, 0,
			(room - log->client_room) * sizeof(*log->clients));
		log->client_room = room;
	}
	client = &log->clients[id];
	client->first = client->count == 0 || number < client->first ? number : client->first;
	client->last = number > client->last ? number : client->last;
	client->count++;
}

static void count_outcome(
	struct wp_import_log *log, struct log_span *span, enum log_outcome outcome)
{
	span->skipped += outcome == LOG_SKIPPED ? 1 : 0;
	span->failed += outcome > LOG_SKIPPED ? 1 : 0;
	log->serialization_failures += outcome == LOG_SERIALIZATION ? 1 : 0;
	log->deadlock_failures += outcome == LOG_DEADLOCK ? 1 : 0;
}

static void add_transaction(struct wp_import_log *log, const struct log_line *line)
{
	uint64_t latency_us = line->fields[2];
	uint64_t end_us = line->fields[4] * 1000000 + line->fields[5];
	struct log_span *span = log_span_at(log, line->fields[4]);

	count_client(log, line->fields[0], line->fields[1]);
	log->last_us = end_us > log->last_us ? end_us : log->last_us;
	if (line->outcome != LOG_DONE) {
		count_outcome(log, span, line->outcome);
		return;
	}
	if (log->first_us == 0 || end_us - latency_us < log->first_us)
		log->first_us = end_us - latency_us;
	log_sums_add(&span->sums, latency_us);
	wp_hist_record(&log->hist, (int64_t)latency_us * WP_NS_PER_US);
	if (line->fields[3] < LOG_SCRIPTS_MAX) {
		log_sums_add(&log->scripts[line->fields[3]], latency_us);
		if (line->fields[3] >= log->script_count)
			log->script_count = (size_t)line->fields[3] + 1;
	}
	if (line->count == 8) {
		span->lag_sum_us += (double)line->fields[6];
		log->lag_max_us = (double)line->fields[6] > log->lag_max_us
					  ? (double)line->fields[6]
					  : log->lag_max_us;
		span->retried += line->fields[7] > 0 ? 1 : 0;
		span->retries += line->fields[7];
	}
}

/* ---- intervals ------------------------------------------------------------------------------- */

static void add_aggregate(struct wp_import_log *log, const struct log_line *line)
{
	const uint64_t *fields = line->fields;
	struct log_span *span = log_span_at(log, fields[0]);
	struct log_sums sums = { fields[1], (double)fields[2], (double)fields[3], fields[4],
		fields[5] };

	if (log->lines > 0 && fields[0] > log->previous_s &&
		(!log->interval_s || fields[0] - log->previous_s < log->interval_s))
		log->interval_s = fields[0] - log->previous_s;
	log->previous_s = fields[0];
	log_sums_merge(&span->sums, &sums);
	if (line->count >= 10) {
		span->lag_sum_us += (double)fields[6];
		log->lag_max_us =
			(double)fields[9] > log->lag_max_us ? (double)fields[9] : log->lag_max_us;
	}
	if (line->count >= 11)
		span->skipped += fields[10];
	if (line->count >= 15) {
		span->retried += fields[11];
		span->retries += fields[12];
		span->failed += fields[13] + fields[14];
		log->serialization_failures += fields[13];
		log->deadlock_failures += fields[14];
	}
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* A line that lost a digit may still look like one: its sums must not contradict each other. */
static bool is_possible(const struct wp_import_log *log, const struct log_line *line)
{
	const uint64_t *fields = line->fields;

	if (log->form == LOG_TRANSACTIONS)
		return fields[2] < LOG_LATENCY_MAX_US && fields[3] < LOG_CLIENTS_MAX;
	return fields[5] < LOG_LATENCY_MAX_US && fields[4] <= fields[5] &&
	       (double)fields[2] <= (double)fields[1] * (double)fields[5] + 1;
}

static void strange_line(struct wp_import_log *log, const char *text, size_t length)
{
	char shown[LOG_LINE_BYTES + 1];

	length = length < LOG_LINE_BYTES ? length : LOG_LINE_BYTES;
	memcpy(shown, text, length);
	shown[length] = '\0';
	if (log->strange_lines++ < LOG_STRANGE_SHOWN && log->in)
		wp_import_not_understood(log->in, (size_t)log->read_lines, shown);
}

static void add_line(struct wp_import_log *log, const char *text, size_t length)
{
	struct log_line line;

	log->read_lines++;
	if (length && text[length - 1] == '\r')
		length--;
	if (!length)
		return;
	if (!log_parse(text, length, &line) || line.count != log->field_count ||
		log_form_of(&line) != (int)log->form || !is_possible(log, &line)) {
		strange_line(log, text, length);
		return;
	}
	if (log->form == LOG_TRANSACTIONS)
		add_transaction(log, &line);
	else
		add_aggregate(log, &line);
	log->lines++;
}

static void carry(struct wp_import_log *log, const char *bytes, size_t size)
{
	if (log->carried + size > sizeof(log->carry)) {
		log->is_overlong = true;
		return;
	}
	memcpy(log->carry + log->carried, bytes, size);
	log->carried += size;
}

static void log_feed(struct wp_import_log *log, const char *bytes, size_t size)
{
	const char *end = bytes + size;

	while (bytes < end) {
		const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));
		size_t length = (size_t)((newline ? newline : end) - bytes);

		if (!newline) {
			carry(log, bytes, length);
			return;
		}
		if (log->carried || log->is_overlong) {
			carry(log, bytes, length);
			if (log->is_overlong)
				strange_line(log, log->carry, log->carried);
			else
				add_line(log, log->carry, log->carried);
			log->carried = 0;
			log->is_overlong = false;
		} else {
			add_line(log, bytes, length);
		}
		bytes = newline + 1;
	}
}

static struct wp_import_log *log_open(const char *head, size_t size)
{
	const char *end = head + size;
	struct wp_import_log *log;
	struct log_line line;
	size_t lines = 0;
	size_t fields = 0;
	int form = -1;

	while (head < end && lines < 2) {
		const char *newline = memchr(head, '\n', (size_t)(end - head));
		size_t length = (size_t)((newline ? newline : end) - head);

		if (!newline)
			break;
		if (length && head[length - 1] == '\r')
			length--;
		if (!log_parse(head, length, &line) || log_form_of(&line) < 0 ||
			(lines && (line.count != fields || log_form_of(&line) != form)))
			return NULL;
		form = log_form_of(&line);
		fields = line.count;
		lines++;
		head = newline + 1;
	}
	if (!lines || (lines < 2 && head < end))
		return NULL;
	log = wp_xcalloc(1, sizeof(*log));
	log->form = form == LOG_TRANSACTIONS ? LOG_TRANSACTIONS : LOG_AGGREGATE;
	log->field_count = fields;
	log->spans = wp_xcalloc(LOG_SPANS_MAX, sizeof(*log->spans));
	log->span_s = 1;
	wp_hist_init(&log->hist);
	return log;
}

static void log_discard(struct wp_import_log *log)
{
	if (!log)
		return;
	wp_hist_release(&log->hist);
	free(log->clients);
	free(log->spans);
	free(log);
}

/* The last line without its end may be cut within a number: it does not count. */
static void log_close(struct wp_import_log *log, struct wp_import *in, size_t line)
{
	if (log->carried || log->is_overlong)
		strange_line(log, log->carry, log->carried);
	log->total = log_spans_sum(log, 0, log->span_count);
	log_add_rows(in, log, line);
	log_discard(log);
}

/* ---- a log within a text ---------------------------------------------------------------------- */

static size_t take(struct wp_import *in, size_t at)
{
	struct wp_import_log *log = NULL;
	struct log_line line;
	size_t count = 0;
	size_t fields = 0;
	int form = -1;

	while (at + count < in->line_count) {
		const char *text = in->lines[at + count].text;

		if (!log_parse(text, strlen(text), &line) || log_form_of(&line) < 0 ||
			(count && (line.count != fields || log_form_of(&line) != form)))
			break;
		form = log_form_of(&line);
		fields = line.count;
		count++;
	}
	if (count < 2)
		return 0;
	for (size_t i = at; i < at + count; i++) {
		char *text = wp_xasprintf("%s\n", in->lines[i].text);

		if (!log) {
			char *two = wp_xasprintf("%s%s\n", text, in->lines[i + 1].text);

			log = log_open(two, strlen(two));
			free(two);
		}
		log_feed(log, text, strlen(text));
		free(text);
		in->lines[i].is_taken = true;
	}
	log_close(log, in, in->lines[at].number);
	return count;
}

/* ---- a log alone ------------------------------------------------------------------------------ */

static bool is_stream(const char *head, size_t length)
{
	struct wp_import_log *log = log_open(head, length);
	bool is_log = log != NULL;

	log_discard(log);
	return is_log;
}

/* The form is known with the first lines. */
struct stream {
	struct wp_import *in;
	struct wp_import_log *log;
};

static void *open_stream(struct wp_import *in)
{
	struct stream *stream = wp_xcalloc(1, sizeof(*stream));

	stream->in = in;
	return stream;
}

static void feed_stream(void *raw, const char *text, size_t length)
{
	struct stream *stream = raw;

	if (!stream->log) {
		stream->log = log_open(text, length);
		if (!stream->log)
			return;
		stream->log->in = stream->in;
	}
	log_feed(stream->log, text, length);
}

static void close_stream(void *raw)
{
	struct stream *stream = raw;

	if (stream->log)
		log_close(stream->log, stream->in, 1);
	free(stream);
}

const struct wp_importer wp_import_pgbench_log = {
	.name = "pgbench-log",
	.title = "pgbench's logs of transactions (--log) and intervals (--aggregate-interval)",
	.take = take,
	.is_stream = is_stream,
	.open = open_stream,
	.feed = feed_stream,
	.close = close_stream,
};
