/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A list of words: requests to the registry of process sets, and its answers. A request begins with
 * its name, an answer with "ok" or "error".
 *
 * Invariant: a list owns its words; a place behind the last one reads as an empty word. */
#ifndef ORR_DYN_WORDS_H
#define ORR_DYN_WORDS_H

#include <stddef.h>

struct orr_dyn_words {
	char **w;
	int n, room;
};

/* Memory that cannot be had ends the process with a message. */
void *orr_dyn_memory(void *old, size_t bytes);
/* Appends a copy of the text, or a number. */
void orr_dyn_words_add(struct orr_dyn_words *l, const char *text);
void orr_dyn_words_number(struct orr_dyn_words *l, long number);
/* Appends the words of `from` that begin at that place. */
void orr_dyn_words_copy(struct orr_dyn_words *l, const struct orr_dyn_words *from, int place);
void orr_dyn_words_free(struct orr_dyn_words *l);
const char *orr_dyn_word(const struct orr_dyn_words *l, int place);
long orr_dyn_number(const struct orr_dyn_words *l, int place);
/* The word at that place as a whole number from 0 to `most`, or -1 if it is anything else. */
int orr_dyn_count(const struct orr_dyn_words *l, int place, int most);
/* True if the word at that place is this one. */
int orr_dyn_word_is(const struct orr_dyn_words *l, int place, const char *text);
/* The list of these words, which end with NULL. */
struct orr_dyn_words orr_dyn_words_of(const char *first, ...) __attribute__((sentinel));
/* The list as bytes, each word with its end, allocated; and back. */
char *orr_dyn_words_pack(const struct orr_dyn_words *l, size_t *bytes);
struct orr_dyn_words orr_dyn_words_unpack(const char *text, size_t bytes);

#endif
