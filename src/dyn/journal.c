/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The journal of an elastic run, if $ORRERY_DYN_LOG names a file: a line for each request, answer
 * and end of a process, with the seconds since the run began. It says where the time of a change
 * goes, and both worlds write the same one, so that a prediction can be compared step by step.
 *
 * Invariant: a run without that variable writes nothing. The last line of a journal that was closed
 * is its checksum. */
#include "dyn/registry_own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/private.h"

/* Lists of processes are long and say little. */
enum { MOST_WORDS = 6 };

#define FIRST_LINE ORR_CHECKSUM_FOLLOWS "\n"

struct orr_dyn_journal {
	FILE *f;
	struct orr_crc32 crc;
	uint32_t sum; /* of what was written */
};

/* Writes what a reader shall see now, even if the run is killed. */
static void put(struct orr_dyn_journal *j, const char *text, size_t n)
{
	fwrite(text, 1, n, j->f);
	fflush(j->f);
	j->sum = orr_crc32(&j->crc, j->sum, text, n);
}

void orr_dyn_journal_open(struct orr_dyn_registry *r)
{
	const char *path = getenv("ORRERY_DYN_LOG");

	if (!path || !*path)
		return;
	struct orr_dyn_journal *j = calloc(1, sizeof(*j));

	int fd = j ? orr_private_output(path, O_WRONLY | O_CREAT | O_TRUNC) : -ENOMEM;
	if (fd >= 0)
		j->f = fdopen(fd, "w");
	if (fd < 0 || !j->f) {
		orr_dyn_say(r, "$ORRERY_DYN_LOG: %s cannot be written: %s", path,
			    orr_private_why(fd < 0 ? fd : -errno));
		free(j);
		return;
	}
	orr_crc32_init(&j->crc);
	put(j, FIRST_LINE, sizeof(FIRST_LINE) - 1);
	r->journal = j;
}

/* A word of a peer's: blanks and control characters would make other words or lines of it. */
static void write_word(FILE *f, const char *word)
{
	fputc(' ', f);
	for (const unsigned char *c = (const unsigned char *) word; *c; c++)
		fputc(*c > ' ' && *c != 127 ? *c : '?', f);
}

void orr_dyn_note(struct orr_dyn_registry *r, int uid, const char *verb,
		  const struct orr_dyn_words *words)
{
	if (!r->journal)
		return;
	/* A simulated program may have another locale than the one with points. */
	long long us = (long long) (r->host.now_s(r->host.arg) * 1e6 + 0.5);
	char *text = NULL;
	size_t n = 0;
	FILE *line = open_memstream(&text, &n);

	if (!line)
		return;
	fprintf(line, "%lld.%06lld %d %s", us / 1000000, us % 1000000, uid, verb);
	for (int i = 0; words && i < words->n && i < MOST_WORDS; i++)
		write_word(line, words->w[i]);
	fputc('\n', line);
	if (!fclose(line))
		put(r->journal, text, n);
	free(text);
}

void orr_dyn_journal_close(struct orr_dyn_registry *r)
{
	struct orr_dyn_journal *j = r->journal;

	if (!j)
		return;
	fprintf(j->f, ORR_CHECKSUM "%08x\n", (unsigned) j->sum);
	fclose(j->f);
	free(j);
	r->journal = NULL;
}
