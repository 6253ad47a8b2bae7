#include "fedctl/table.h"

#include <string.h>

#include "fedctl/output.h"

#define GAP   2  /* between columns */
#define LEAST 16 /* what a cell keeps at least: short words are not cut */

struct table_column {
	char *header;
	size_t width; /* of the widest cell, the header included */
	size_t shown; /* as it is written: less where the line would be too long */
	bool filled;  /* some cell says something */
	bool whole;   /* is not cut */
	const char *(*color)(const char *word);
};

struct table {
	struct table_column *columns;
	size_t n_columns;
	char ***rows;
	size_t n_rows, cap_rows;
	bool keep_all, begun;
};

struct table *table_create(const char *const *headers, size_t n)
{
	struct table *t = xnew0(struct table);

	t->columns = xcalloc(n, sizeof(*t->columns));
	t->n_columns = n;
	for (size_t i = 0; i < n; i++) {
		t->columns[i].header = xstrdup(headers[i]);
		t->columns[i].width = text_width(headers[i]);
	}
	return t;
}

static void forget_rows(struct table *t)
{
	for (size_t r = 0; r < t->n_rows; r++) {
		for (size_t c = 0; c < t->n_columns; c++)
			free(t->rows[r][c]);
		free(t->rows[r]);
	}
	t->n_rows = 0;
}

void table_destroy(struct table *t)
{
	if (!t)
		return;
	forget_rows(t);
	for (size_t c = 0; c < t->n_columns; c++)
		free(t->columns[c].header);
	free(t->rows);
	free(t->columns);
	free(t);
}

void table_add(struct table *t, const char *const *cells)
{
	char **row = xcalloc(t->n_columns, sizeof(*row));

	for (size_t c = 0; c < t->n_columns; c++) {
		struct table_column *column = &t->columns[c];
		struct strbuf clean = {0};
		size_t width;

		if (cells[c])
			clean_text(cells[c], &clean);
		row[c] = strbuf_take(&clean);
		width = text_width(row[c]);
		column->filled |= width > 0;
		if (width > column->width)
			column->width = width;
	}
	GROW(t->rows, t->n_rows, t->cap_rows);
	t->rows[t->n_rows++] = row;
}

size_t table_rows(const struct table *t)
{
	return t->n_rows;
}

void table_widen(struct table *t, size_t column, size_t width)
{
	if (width > t->columns[column].width)
		t->columns[column].width = width;
}

void table_keep_all(struct table *t)
{
	t->keep_all = true;
}

void table_keep_whole(struct table *t, size_t column)
{
	t->columns[column].whole = true;
}

void table_paint(struct table *t, size_t column, const char *(*color)(const char *word))
{
	t->columns[column].color = color;
}

static bool is_shown(const struct table *t, size_t c)
{
	return !c || t->keep_all || t->columns[c].filled;
}

static size_t line_width(const struct table *t)
{
	size_t width = 0;

	for (size_t c = 0; c < t->n_columns; c++)
		if (is_shown(t, c))
			width += t->columns[c].shown + (c ? GAP : 0);
	return width;
}

/* From the last column on, which is where the long texts are. */
static void fit(struct table *t, size_t width)
{
	size_t total;

	for (size_t c = 0; c < t->n_columns; c++)
		t->columns[c].shown = t->columns[c].width;
	total = line_width(t);
	for (size_t c = t->n_columns; width && total > width && c-- > 0;) {
		struct table_column *column = &t->columns[c];
		size_t cut = column->shown > LEAST ? column->shown - LEAST : 0;

		if (!is_shown(t, c) || column->whole)
			continue;
		if (cut > total - width)
			cut = total - width;
		column->shown -= cut;
		total -= cut;
	}
}

static void write_cell(const struct table_column *column, const char *text, bool colors,
		       struct strbuf *out)
{
	const char *color = colors && column->color ? column->color(text) : NULL;

	strbuf_adds(out, color ? color : "");
	cut_text(text, column->shown, out);
	strbuf_adds(out, color ? COLOR_OFF : "");
}

/* Spaces stand before what follows them, so that no line ends with one. */
static void write_line(const struct table *t, char *const *cells, bool colors, struct strbuf *out)
{
	size_t spaces = 0;

	for (size_t c = 0; c < t->n_columns; c++) {
		const struct table_column *column = &t->columns[c];
		const char *text = cells ? cells[c] : column->header;
		size_t width = text_width(text);

		if (!is_shown(t, c))
			continue;
		if (*text) {
			strbuf_addf(out, "%*s", (int)spaces, "");
			write_cell(column, text, colors && cells, out);
			spaces = 0;
		}
		if (width > column->shown)
			width = column->shown;
		spaces += column->shown - (*text ? width : 0) + GAP;
	}
	strbuf_addc(out, '\n');
}

void table_write(struct table *t, size_t width, bool colors, struct strbuf *out)
{
	fit(t, width);
	if (!t->begun)
		write_line(t, NULL, colors, out);
	t->begun = true;
	for (size_t r = 0; r < t->n_rows; r++)
		write_line(t, t->rows[r], colors, out);
	forget_rows(t);
}
