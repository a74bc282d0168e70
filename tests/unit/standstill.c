/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The analysis of a standstill: the culprit comes first, nobody is accused whose sends are not all
 * known, and the list stays within its lines at any number of ranks. */
#include "base/standstill.h"

#include <string.h>

#include "lib/test.h"

static char *text;
static size_t size;
static unsigned nlines;

static void note(struct orr_standstill *s, int rank, int kind, int peer, int64_t tag)
{
	orr_standstill_wait(s, rank,
			    &(struct orr_mpi_wait){
				    .kind = kind, .peer = peer, .tag = tag, .name = "\"value\"" });
}

/* A ring in which each rank but 0 sends to the next one what it has received. */
static struct orr_standstill *ring(int n)
{
	struct orr_standstill *s = orr_standstill_new(n);
	char line[200];

	CHECK(s != NULL);
	for (int i = 0; i < n; i++) {
		int next = (i + 1) % n, before = (i + n - 1) % n;

		note(s, i, ORR_WAIT_RECEIVE, before, i ? i : n);
		if (i)
			note(s, i, ORR_WAIT_SEND, next, next ? next : n);
		snprintf(line, sizeof(line), "[rank %d] receive from rank %d\n  task %d: blocked\n",
			 i, before, i);
		orr_standstill_text(s, i, line);
	}
	return s;
}

/* Prints it, at most so many lines, into text. */
static void print(struct orr_standstill *s, unsigned most)
{
	free(text);
	text = NULL;
	FILE *f = open_memstream(&text, &size);
	CHECK(f != NULL);
	orr_standstill_print(s, f, most);
	fclose(f);
	orr_standstill_free(s);
	nlines = 0;
	for (const char *p = text; (p = strchr(p, '\n')); p++)
		nlines++;
	CHECK(nlines <= most, "%u lines, not %u: %s", nlines, most, text);
}

static void says(const char *words)
{
	CHECK(strstr(text, words) != NULL, "'%s' is not in: %s", words, text);
}

static void says_not(const char *words)
{
	CHECK(strstr(text, words) == NULL, "'%s' is in: %s", words, text);
}

static void begins(const char *words)
{
	CHECK(!strncmp(text, words, strlen(words)), "'%s' is not first: %s", words, text);
}

static void culprit_first(void)
{
	print(ring(3), 24);
	begins("  rank 0 never sent tag 1, which rank 1 waits for (\"value\")\n");
	says("  rank 2 waits:\n    [rank 2] receive from rank 1\n      task 2: blocked\n");
	print(ring(100000), 15);
	begins("  rank 0 never sent tag 1, ");
	says("  100000 ranks, as rank 0: task 0: blocked\n");
	CHECK_IS(nlines, 3);
}

/* Rank 0 has more to send than is known. */
static void no_accusation(void)
{
	struct orr_standstill *s = ring(5);

	orr_standstill_partial(s, 0);
	print(s, 24);
	says_not("never sent");
}

static void circle(void)
{
	struct orr_standstill *s = orr_standstill_new(40);

	for (int i = 0; i < 40; i++)
		note(s, i, ORR_WAIT_RECEIVE, (i + 1) % 40, 7);
	note(s, 3, ORR_WAIT_UNASKED, 4, 6);
	print(s, 15);
	says("ranks wait for each other in a circle: rank ");
	says("... 40 ranks in all; none of these was sent");
	says("  rank 3 never asked for tag 6, which rank 4 has sent to it\n");
}

static void other_tag(void)
{
	struct orr_standstill *s = orr_standstill_new(2);

	note(s, 1, ORR_WAIT_RECEIVE, 0, 7);
	note(s, 1, ORR_WAIT_UNASKED, 0, 5);
	orr_standstill_ended(s, 0);
	print(s, 15);
	begins("  rank 0 has ended and never sent tag 7, which rank 1 waits for (\"value\"); its message with tag 5 is there, and nobody asks for it\n");
}

/* Lines of many kinds, and many culprits. */
static void many_kinds(void)
{
	struct orr_standstill *s = orr_standstill_new(1000);
	char line[40];

	for (int i = 0; i < 1000; i++) {
		for (int k = 0; i && k < 3; k++)
			note(s, i, ORR_WAIT_RECEIVE, 0, 3 * i + k);
		snprintf(line, sizeof(line), "kind %c%c\n", 'a' + i % 26, 'a' + i / 26 % 26);
		orr_standstill_text(s, i, line);
	}
	print(s, 15);
	CHECK_IS(nlines, 15);
	says("  rank 0 never sent tag 3, which rank 1 waits for");
	says("... and 2991 more messages that were never sent");
	says("more kinds of waits");
}

int main(void)
{
	culprit_first();
	no_accusation();
	circle();
	other_tag();
	many_kinds();
	free(text);
	return 0;
}
