/* SPDX-License-Identifier: PostgreSQL */
/*
 * bonnie_cells.h - headings and rows of the tables that bonnie++ and classic bonnie print.
 *
 * Floor: import, private. Cells are told by their number where all are there, else by the column
 * that they end in; where both are lost (blanks collapsed, and tests left out), so are the figures.
 */
#ifndef WALPROBE_IMPORT_BONNIE_CELLS_H
#define WALPROBE_IMPORT_BONNIE_CELLS_H

#include "import/bonnie.h"

#define WP_BONNIE_CELLS 12 /* six tests, each a rate and a share of processor time */
#define WP_BONNIE_TOKENS 48

/* what stands above the rows */
struct wp_bonnie_head {
	size_t lines;
	char version[16];
	bool is_classic;
	bool has_units;     /* 2.00: values end in k, m, g */
	bool is_concurrent; /* 1.9x and later */
	bool is_tree;       /* small files */
	bool has_edges;
	size_t edges[WP_BONNIE_CELLS]; /* column behind the last character of each cell */
};

/* A row as text: two readings are the same when their bytes are. */
struct wp_bonnie_row_text {
	char label[64];
	char size[40]; /* of the big files, or number of small ones */
	char cells[WP_BONNIE_CELLS][16];
};

struct wp_bonnie_token {
	const char *text;
	size_t length;
	size_t end;
};

/* wp_bonnie_read_head - the heading that begins on line at, of small files or of the others; false
 * when there is none or it is not whole. */
bool wp_bonnie_read_head(
	const struct wp_import *in, size_t at, bool is_tree, struct wp_bonnie_head *head);

/* wp_bonnie_split - words of text; 0 when they are none or more than WP_BONNIE_TOKENS. */
size_t wp_bonnie_split(const char *text, struct wp_bonnie_token *tokens);

/* wp_bonnie_copy - length bytes of text into out, cut at size. */
void wp_bonnie_copy(char *out, size_t size, const char *text, size_t length);

/* wp_bonnie_parse_row - for wp_import_unwrap(): ctx is the head, out a row_text. */
bool wp_bonnie_parse_row(const char *text, const void *ctx, void *out);

/* wp_bonnie_parse_lost_row - likewise, for a row in which it cannot be told what is what. */
bool wp_bonnie_parse_lost_row(const char *text, const void *ctx, void *out);

#endif
