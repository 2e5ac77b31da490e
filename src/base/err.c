/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/err.h"

const char *wp_errno_text(int sys_errno)
{
	const char *text = strerrordesc_np(sys_errno);

	return text ? text : "unknown error";
}

const char *wp_errno_name(int sys_errno)
{
	const char *name = strerrorname_np(sys_errno);

	return name ? name : "unknown error";
}

static enum wp_code refine(enum wp_code code, int sys_errno)
{
	if (code == WP_E_SYS && (sys_errno == ENOSPC || sys_errno == EDQUOT))
		return WP_E_NOSPACE;
	return code;
}

int wp_fail(struct wp_err *err, enum wp_code code, int sys_errno, const char *format, ...)
{
	va_list args;
	size_t used;

	code = refine(code, sys_errno);
	if (!err)
		return -(int)code;
	memset(err, 0, sizeof(*err));
	err->code = code;
	err->sys_errno = sys_errno;
	va_start(args, format);
	(void)vsnprintf(err->message, sizeof(err->message), format, args);
	va_end(args);
	used = strlen(err->message);
	if (sys_errno)
		(void)snprintf(err->message + used, sizeof(err->message) - used, ": %s",
			wp_errno_text(sys_errno));
	return -(int)code;
}

void wp_err_detail(struct wp_err *err, const char *format, ...)
{
	va_list args;

	if (!err)
		return;
	va_start(args, format);
	(void)vsnprintf(err->detail, sizeof(err->detail), format, args);
	va_end(args);
}

void wp_err_hint(struct wp_err *err, const char *format, ...)
{
	va_list args;

	if (!err)
		return;
	va_start(args, format);
	(void)vsnprintf(err->hint, sizeof(err->hint), format, args);
	va_end(args);
}

void wp_err_prefix(struct wp_err *err, const char *format, ...)
{
	char message[sizeof(err->message)];
	va_list args;
	size_t used;

	if (!err)
		return;
	va_start(args, format);
	(void)vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	used = strlen(message);
	(void)snprintf(message + used, sizeof(message) - used, "%s", err->message);
	memcpy(err->message, message, sizeof(message));
}

void wp_err_print_line(const char *kind, const char *text, FILE *stream)
{
	fprintf(stream, "walprobe: %s: ", kind);
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;

		if ((byte >= ' ' && byte != 0x7f) || byte == '\n' || byte == '\t')
			fputc(byte, stream);
		else
			fprintf(stream, "\\x%02x", byte);
	}
	fputc('\n', stream);
}

void wp_err_print(const struct wp_err *err, const char *kind, FILE *stream)
{
	wp_err_print_line(kind, err->message, stream);
	if (err->detail[0])
		wp_err_print_line("detail", err->detail, stream);
	if (err->hint[0])
		wp_err_print_line("hint", err->hint, stream);
}

int wp_code_exit_status(enum wp_code code)
{
	static const int statuses[] = {
#define X(code_name, status, name) [code_name] = (status),
		WP_ERROR_CODES(X)
#undef X
	};

	assert((size_t)code < WP_COUNT(statuses));
	return statuses[code];
}
