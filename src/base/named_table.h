/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables of named things in scopes: performance counters and performance knobs. A number tells the
 * scope and the place there.
 *
 * Invariant: the tables are constant, so that any thread may read them; the places of a scope are
 * fewer than ORR_NAMED_PLACES. */
#ifndef ORR_BASE_NAMED_TABLE_H
#define ORR_BASE_NAMED_TABLE_H

#include <stddef.h>

#define ORR_NAMED_PLACES 256

/* The common beginning of a row. */
struct orr_named_row {
	const char *name, *help;
	int type; /* 1 to 4: int32, int64, float, double */
};

/* The things of one scope, in the order of their places. */
struct orr_named_table {
	int scope;
	const char *name;
	const void
		*rows; /* n of them, of `size` bytes each, that begin with struct orr_named_row */
	size_t size;
	int n;
};

/* All scopes. */
struct orr_named_tables {
	const struct orr_named_table *table;
	int n;
};

#define ORR_NAMED_COUNT(v) ((int) (sizeof(v) / sizeof((v)[0])))
/* A table made of an array of rows. */
#define ORR_NAMED_TABLE(SCOPE, NAME, ROWS) \
	{ \
		.scope = (int) (SCOPE), .name = (NAME), .rows = (ROWS), .size = sizeof((ROWS)[0]), \
		.n = ORR_NAMED_COUNT(ROWS) \
	}

/* The table of a scope, or NULL. */
const struct orr_named_table *orr_named_scope(const struct orr_named_tables *t, int scope);
/* The scope of that name, or `none`. */
int orr_named_scope_id(const struct orr_named_tables *t, const char *name, int none);
const char *orr_named_scope_name(const struct orr_named_tables *t, int scope);
/* The number of things in the scope; -1: there is no such scope. */
int orr_named_count(const struct orr_named_tables *t, int scope);
/* Their numbers: by place, and by name. -1: there is none. */
int orr_named_nth(const struct orr_named_tables *t, int scope, int nth);
int orr_named_id(const struct orr_named_tables *t, int scope, const char *name);
/* The row of a number, or NULL. */
const struct orr_named_row *orr_named_row(const struct orr_named_tables *t, int id);
static inline int orr_named_scope_of(int id)
{
	return id / ORR_NAMED_PLACES;
}
static inline int orr_named_place_of(int id)
{
	return id % ORR_NAMED_PLACES;
}
/* The types, by name and by number; 0 and NULL: there is none. */
int orr_named_type_id(const char *name);
const char *orr_named_type_name(int type);
/* Prints a line for each thing of a scope, or of all scopes, on standard output. */
void orr_named_list(const struct orr_named_tables *t, int scope);
void orr_named_list_all(const struct orr_named_tables *t);

#endif
