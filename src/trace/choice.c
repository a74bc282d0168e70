/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The part of a run that is recorded (see choice.h). */
#include "trace/choice.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/numbers.h"

#define MOST_TEXT 120 /* characters of one variable: the head of a file has them */
#define MOST_SECONDS 1e9

#define BIT(kind) ((uint64_t) 1 << ORR_TRACE_##kind)
#define MESSAGES \
	(BIT(POST) | BIT(GRANT) | BIT(ROUTE) | BIT(SEND) | BIT(SENT) | BIT(ENVELOPE) | \
	 BIT(MATCH) | BIT(RECV) | BIT(HELD))

/* The groups of kinds, which tools/orrery_tracefile.py knows, too. */
static const struct group {
	const char *name;
	uint64_t kinds;
} groups[] = {
	{ "tasks", BIT(SUBMIT) | BIT(AFTER) | BIT(RELEASE) | BIT(READY) | BIT(START) | BIT(END) |
			   BIT(DONE) | BIT(CALLBACK) },
	{ "kernels", BIT(START) | BIT(END) },
	{ "callbacks", BIT(CALLBACK) },
	{ "messages", MESSAGES },
	{ "lists", MESSAGES },
	{ "copies", BIT(COPY) | BIT(COPIED) },
	{ "progression", BIT(ENGINE) },
	{ "waits", BIT(WAITED) },
	{ "changes", BIT(CHANGE) },
	{ "memory", BIT(MEMORY) },
	{ "marks", BIT(USER) },
	{ "links", BIT(LINK) },
	{ "data", BIT(DATUM) | BIT(USES) },
};
#define NGROUPS (sizeof(groups) / sizeof(groups[0]))

static int refuse(const char *variable, const char *text, const char *why)
{
	orr_error("environment variable %s has the value \"%s\": %s; unset or correct it", variable,
		  text, why);
	return -EINVAL;
}

/* ---- ranks ---- */

/* Reads "first" or "first-last" and moves *text behind it. 0 or -EINVAL. */
static int read_range(const char **text, long *first, long *last)
{
	char *end;

	if (**text < '0' || **text > '9')
		return -EINVAL;
	errno = 0;
	*first = *last = strtol(*text, &end, 10);
	if (*end == '-') {
		if (end[1] < '0' || end[1] > '9')
			return -EINVAL;
		*last = strtol(end + 1, &end, 10);
	}
	*text = end;
	return errno || *first > *last || *last > INT_MAX ? -EINVAL : 0;
}

static int are_ranges(const char *text)
{
	long first, last;

	for (;; text++) {
		if (read_range(&text, &first, &last) || (*text && *text != ','))
			return 0;
		if (!*text)
			return 1;
	}
}

int orr_trace_choice_has(const struct orr_trace_choice *choice, int rank)
{
	const char *text = choice->ranks;
	long first, last;

	if (!text)
		return 1;
	for (; !read_range(&text, &first, &last); text++) {
		if (rank >= first && rank <= last)
			return 1;
		if (!*text)
			break;
	}
	return 0;
}

static int read_ranks(struct orr_trace_choice *choice, const char *text)
{
	const char *variable = "ORRERY_TRACE_RANKS";

	if (!text)
		return 0;
	if (strlen(text) > MOST_TEXT)
		return refuse(variable, text,
			      "it is longer than 120 characters; use ranges, as 0-7");
	if (!are_ranges(text))
		return refuse(variable, text, "it takes ranks and ranges of them, as 0-3,17");
	choice->ranks = text;
	return 0;
}

/* ---- time ---- */

/* Reads seconds up to `end`; nothing there leaves *ns as it is. 0 or -EINVAL. */
static int read_seconds(const char *text, const char *end, int64_t *ns)
{
	char *stop;

	if (text == end)
		return 0;
	if ((*text < '0' || *text > '9') && *text != '.')
		return -EINVAL;
	double s = orr_strtod(text, &stop);
	if (stop != end || !(s >= 0) || s > MOST_SECONDS)
		return -EINVAL;
	*ns = (int64_t) llround(s * 1e9);
	return 0;
}

static int read_window(struct orr_trace_choice *choice, const char *text)
{
	const char *variable = "ORRERY_TRACE_WINDOW";
	static const char form[] =
		"it takes FROM..TO in seconds since the start, as 1.5..2, 10.. or ..3";
	char copy[MOST_TEXT + 1];

	if (!text)
		return 0;
	char *dots = strlen(text) <= MOST_TEXT ? strstr(strcpy(copy, text), "..") : NULL;
	if (!dots || (dots == copy && !dots[2]))
		return refuse(variable, text, form);
	*dots = '\0';
	if (read_seconds(copy, dots, &choice->from_ns) ||
	    read_seconds(dots + 2, dots + 2 + strlen(dots + 2), &choice->to_ns))
		return refuse(variable, text, form);
	if (choice->from_ns >= choice->to_ns)
		return refuse(variable, text, "its end is not after its begin");
	return 0;
}

/* ---- kinds ---- */

/* The kinds of the group of that name, 0 if there is none. */
static uint64_t group_of(const char *name, size_t length)
{
	for (size_t i = 0; i < NGROUPS; i++)
		if (strlen(groups[i].name) == length && !memcmp(groups[i].name, name, length))
			return groups[i].kinds;
	return 0;
}

static int read_kinds(struct orr_trace_choice *choice, const char *text)
{
	const char *variable = "ORRERY_TRACE_KINDS";
	static const char form[] =
		"it takes names with commas between them: tasks, kernels, callbacks, messages, lists, copies, progression, waits, changes, memory, marks, links, data";

	if (!text)
		return 0;
	if (strlen(text) > MOST_TEXT)
		return refuse(variable, text, form);
	choice->kinds = ORR_TRACE_ABOUT;
	for (const char *word = text;; word += strcspn(word, ",") + 1) {
		size_t length = strcspn(word, ",");
		uint64_t kinds = group_of(word, length);

		if (!kinds)
			return refuse(variable, text, form);
		choice->kinds |= kinds;
		if (!word[length])
			return 0;
	}
}

/* ---- all of it ---- */

int orr_trace_choice_read(struct orr_trace_choice *choice, const struct orr_config *cfg)
{
	*choice = (struct orr_trace_choice){ .kinds = UINT64_MAX,
					     .from_ns = INT64_MIN,
					     .to_ns = INT64_MAX };
	choice->partial = cfg->trace_ranks || cfg->trace_window || cfg->trace_kinds;
	if (read_ranks(choice, cfg->trace_ranks) || read_window(choice, cfg->trace_window) ||
	    read_kinds(choice, cfg->trace_kinds))
		return -EINVAL;
	return 0;
}

void orr_trace_choice_describe(const struct orr_trace_choice *choice, const struct orr_config *cfg,
			       int64_t begin_ns, char *text, size_t size)
{
	size_t n = strlen(text);

	if (!choice->partial)
		return;
	FILE *f = fmemopen(text + n, size - n, "w");
	if (!f)
		return;
	if (cfg->trace_ranks)
		fprintf(f, "recorded_ranks %s\n", cfg->trace_ranks);
	if (cfg->trace_window)
		fprintf(f, "recorded_window %s\nrecorded_begin_ns %lld\n", cfg->trace_window,
			(long long) begin_ns);
	if (cfg->trace_kinds)
		fprintf(f, "recorded_kinds %s\n", cfg->trace_kinds);
	fclose(f);
}

int64_t orr_trace_choice_begin_ns(const struct orr_trace_head *head)
{
	static const char name[] = "recorded_begin_ns ";
	const char *text = (const char *) (head + 1);
	const size_t length = sizeof(name) - 1;

	for (const char *line = text, *end = text + head->text_bytes; line < end;) {
		if ((size_t) (end - line) > length && !memcmp(line, name, length))
			return strtoll(line + length, NULL, 10);
		line = memchr(line, '\n', (size_t) (end - line));
		line = line ? line + 1 : end;
	}
	return 0;
}
