/* SPDX-License-Identifier: PostgreSQL */
/*
 * clean.h - text as it was posted becomes lines as the tool printed them.
 *
 * Floor: import, private.
 */
#ifndef WALPROBE_IMPORT_CLEAN_H
#define WALPROBE_IMPORT_CLEAN_H

#include "walprobe/import.h"

/*
 * wp_clean_lines - text into in->lines: quoted-printable decoded, marks of quoting, terminal
 * colours, tabs, HTML entities and trailing blanks gone, pdsh's prefixes moved into the host and
 * the lines of one host brought together. Nothing is joined but quoted-printable's soft breaks.
 */
void wp_clean_lines(struct wp_import *in, const char *text, size_t length);

/* wp_clean_release - free in->lines. */
void wp_clean_release(struct wp_import *in);

#endif
