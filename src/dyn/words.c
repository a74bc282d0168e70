/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists of words.
 *
 * Invariant: see words.h. */
#include "dyn/words.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *orr_dyn_memory(void *old, size_t bytes)
{
	void *p = realloc(old, bytes ? bytes : 1);
	if (p)
		return p;
	fprintf(stderr, "[orrery] error: out of memory for process sets (%zu bytes)\n", bytes);
	abort();
}

void orr_dyn_words_add(struct orr_dyn_words *l, const char *text)
{
	size_t bytes = strlen(text) + 1;
	if (l->n == l->room) {
		l->room = 2 * l->room + 8;
		l->w = orr_dyn_memory(l->w, (size_t) l->room * sizeof(*l->w));
	}
	l->w[l->n++] = memcpy(orr_dyn_memory(NULL, bytes), text, bytes);
}

void orr_dyn_words_number(struct orr_dyn_words *l, long number)
{
	char text[32];
	snprintf(text, sizeof(text), "%ld", number);
	orr_dyn_words_add(l, text);
}

void orr_dyn_words_copy(struct orr_dyn_words *l, const struct orr_dyn_words *from, int place)
{
	for (int i = place; i < from->n; i++)
		orr_dyn_words_add(l, from->w[i]);
}

void orr_dyn_words_free(struct orr_dyn_words *l)
{
	for (int i = 0; i < l->n; i++)
		free(l->w[i]);
	free(l->w);
	*l = (struct orr_dyn_words){ 0 };
}

const char *orr_dyn_word(const struct orr_dyn_words *l, int place)
{
	return place >= 0 && place < l->n ? l->w[place] : "";
}

long orr_dyn_number(const struct orr_dyn_words *l, int place)
{
	return strtol(orr_dyn_word(l, place), NULL, 10);
}

int orr_dyn_count(const struct orr_dyn_words *l, int place, int most)
{
	const char *text = orr_dyn_word(l, place);
	char *end;
	if (*text < '0' || *text > '9')
		return -1;
	errno = 0;
	long number = strtol(text, &end, 10);
	return errno || *end || number > most ? -1 : (int) number;
}

int orr_dyn_word_is(const struct orr_dyn_words *l, int place, const char *text)
{
	return place < l->n && !strcmp(l->w[place], text);
}

struct orr_dyn_words orr_dyn_words_of(const char *first, ...)
{
	struct orr_dyn_words l = { 0 };
	va_list list;
	va_start(list, first);
	for (const char *word = first; word; word = va_arg(list, const char *))
		orr_dyn_words_add(&l, word);
	va_end(list);
	return l;
}

char *orr_dyn_words_pack(const struct orr_dyn_words *l, size_t *bytes)
{
	size_t n = 0, at = 0;
	for (int i = 0; i < l->n; i++)
		n += strlen(l->w[i]) + 1;
	char *text = orr_dyn_memory(NULL, n);
	for (int i = 0; i < l->n; i++) {
		size_t length = strlen(l->w[i]) + 1;
		memcpy(text + at, l->w[i], length);
		at += length;
	}
	*bytes = n;
	return text;
}

struct orr_dyn_words orr_dyn_words_unpack(const char *text, size_t bytes)
{
	struct orr_dyn_words l = { 0 };
	for (size_t at = 0; at < bytes; at += strlen(text + at) + 1)
		orr_dyn_words_add(&l, text + at);
	return l;
}
