/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables of named things in scopes (see named_table.h). */
#include "base/named_table.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"

static const char *const types[] = { NULL, "int32", "int64", "float", "double" };

static const struct orr_named_row *row_at(const struct orr_named_table *s, int place)
{
	orr_assertf(s->n < ORR_NAMED_PLACES, "scope %s has %d places", s->name, s->n);
	return (const struct orr_named_row *) ((const char *) s->rows + (size_t) place * s->size);
}

const struct orr_named_table *orr_named_scope(const struct orr_named_tables *t, int scope)
{
	for (int i = 0; i < t->n; i++)
		if (t->table[i].scope == scope)
			return &t->table[i];
	return NULL;
}

int orr_named_scope_id(const struct orr_named_tables *t, const char *name, int none)
{
	for (int i = 0; i < t->n; i++)
		if (name && !strcmp(t->table[i].name, name))
			return t->table[i].scope;
	return none;
}

const char *orr_named_scope_name(const struct orr_named_tables *t, int scope)
{
	const struct orr_named_table *s = orr_named_scope(t, scope);

	return s ? s->name : NULL;
}

int orr_named_count(const struct orr_named_tables *t, int scope)
{
	const struct orr_named_table *s = orr_named_scope(t, scope);

	return s ? s->n : -1;
}

int orr_named_nth(const struct orr_named_tables *t, int scope, int nth)
{
	const struct orr_named_table *s = orr_named_scope(t, scope);

	return s && nth >= 0 && nth < s->n ? scope * ORR_NAMED_PLACES + nth : -1;
}

int orr_named_id(const struct orr_named_tables *t, int scope, const char *name)
{
	const struct orr_named_table *s = orr_named_scope(t, scope);

	for (int i = 0; s && name && i < s->n; i++)
		if (!strcmp(row_at(s, i)->name, name))
			return scope * ORR_NAMED_PLACES + i;
	return -1;
}

const struct orr_named_row *orr_named_row(const struct orr_named_tables *t, int id)
{
	const struct orr_named_table *s = id >= 0 ? orr_named_scope(t, orr_named_scope_of(id))
						  : NULL;

	return s && orr_named_place_of(id) < s->n ? row_at(s, orr_named_place_of(id)) : NULL;
}

int orr_named_type_id(const char *name)
{
	for (int i = 1; i < ORR_NAMED_COUNT(types); i++)
		if (name && !strcmp(types[i], name))
			return i;
	return 0;
}

const char *orr_named_type_name(int type)
{
	return type > 0 && type < ORR_NAMED_COUNT(types) ? types[type] : NULL;
}

void orr_named_list(const struct orr_named_tables *t, int scope)
{
	const struct orr_named_table *s = orr_named_scope(t, scope);

	for (int i = 0; s && i < s->n; i++) {
		const struct orr_named_row *r = row_at(s, i);

		printf("%s (%s): %s\n", r->name, types[r->type], r->help);
	}
}

void orr_named_list_all(const struct orr_named_tables *t)
{
	for (int i = 0; i < t->n; i++) {
		printf("scope %s:\n", t->table[i].name);
		orr_named_list(t, t->table[i].scope);
	}
}
