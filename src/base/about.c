/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The description of a run (see about.h). Without state: both libraries of the real world have it.
 */
#include "base/about.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

extern char **environ;

void orr_run_work_add(struct orr_run_work *to, const struct orr_run_work *more)
{
	to->tasks += more->tasks;
	to->nworkers += more->nworkers;
	to->timed |= more->timed;
	to->joules += more->joules;
	to->waited_s += more->waited_s;
	to->times.kernels_us += more->times.kernels_us;
	to->times.messages_us += more->times.messages_us;
	to->times.submission_us += more->times.submission_us;
	to->times.foreign_us += more->times.foreign_us;
	to->times.idle_us += more->times.idle_us;
	to->times.data_us += more->times.data_us;
	to->times.runtime_us += more->times.runtime_us;
}

void orr_about_add(struct orr_about *a, const char *name, const char *fmt, ...)
{
	va_list ap;
	size_t before = a->length, room = a->size - before;

	orr_assert(before < a->size);
	int n = snprintf(a->text + before, room, "%s ", name);
	if (n < 0 || (size_t) n + 2 >= room) {
		a->text[before] = '\0';
		return;
	}
	va_start(ap, fmt);
	int m = vsnprintf(a->text + before + n, room - (size_t) n, fmt, ap);
	va_end(ap);
	size_t end = before + (size_t) n + (size_t) (m > 0 ? m : 0);
	if (end + 1 >= a->size)
		end = a->size - 2;
	for (size_t i = before; i < end; i++)
		if ((unsigned char) a->text[i] < ' ')
			a->text[i] = ' ';
	a->text[end] = '\n';
	a->text[end + 1] = '\0';
	a->length = end + 1;
}

/* ---- variables and commands ---- */

/* Places, and what the commands set: they say nothing about how the program runs. */
static int is_setting(const char *variable)
{
	static const char *const others[] = {
		"ORRERY_ALLOW_*",
		"ORRERY_CC=",
		"ORRERY_CXX=",
		"ORRERY_DATADIR=",
		"ORRERY_DYN_*",
		"ORRERY_FC=",
		"ORRERY_MPIRUN=",
		"ORRERY_REPORT=",
		"ORRERY_MPI_STATS_FILE=",
		"ORRERY_RUN=",
		"ORRERY_SIM_*",
		"ORRERY_SUMMARY=",
		"ORRERY_STATISTICS=",
		"ORRERY_TRACE=",
		"STARPU_HOME=",
		"STARPU_PERF_MODEL_PATH=",
		"STARPU_FXT_PREFIX=",
	};

	if (strncmp(variable, "STARPU_", 7) && strncmp(variable, "ORRERY_", 7) &&
	    strncmp(variable, "ORR_SIM_COSTS=", 14))
		return 0;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strncmp(variable, others[i], strcspn(others[i], "*")))
			return 0;
	return 1;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *) a, *(const char *const *) b);
}

/* Writes a word as a shell reads it. */
static void put_word(FILE *f, const char *word)
{
	static const char plain[] = "%+,-./:=@_";
	size_t n = 0;

	while (word[n] && (isalnum((unsigned char) word[n]) || strchr(plain, word[n])))
		n++;
	if (n && !word[n]) {
		fputs(word, f);
		return;
	}
	fputc('\'', f);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", f);
		else
			fputc(*word, f);
	fputc('\'', f);
}

char *orr_about_command(const char *first, char **words, int n)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	fputs(first, f);
	for (int i = 0; i < n; i++) {
		if (i || *first)
			fputc(' ', f);
		put_word(f, words[i]);
	}
	fclose(f);
	return text;
}

char *orr_about_environment(void)
{
	size_t n = 0, found = 0;

	while (environ && environ[n])
		n++;
	char **v = malloc((n + 1) * sizeof(*v));
	if (!v)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (is_setting(environ[i]))
			v[found++] = environ[i];
	qsort(v, found, sizeof(*v), by_name);
	char *text = orr_about_command("", v, (int) found);
	free(v);
	return text;
}

/* ---- writing ---- */

void orr_about_comments(FILE *f, const char *text)
{
	while (*text) {
		size_t name = strcspn(text, " \n"), line = strcspn(text, "\n");
		fprintf(f, "# %.*s:%.*s\n", (int) name, text, (int) (line - name), text + name);
		text += line + (text[line] != '\0');
	}
}

static void put_string(FILE *f, const char *s, size_t n)
{
	fputc('"', f);
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char) s[i];
		if (c < 32)
			fprintf(f, "\\u%04x", c);
		else
			fprintf(f, c == '"' || c == '\\' ? "\\%c" : "%c", c);
	}
	fputc('"', f);
}

void orr_about_string(FILE *f, const char *s)
{
	put_string(f, s, strlen(s));
}

/* The lines as members of an object, each after what stands before it. */
static void put_members(FILE *f, const char *text, const char *first, const char *others)
{
	for (const char *before = first; *text; before = others) {
		size_t name = strcspn(text, " \n"), line = strcspn(text, "\n");
		size_t value = name < line ? name + 1 : line;
		fputs(before, f);
		put_string(f, text, name);
		fputs(": ", f);
		put_string(f, text + value, line - value);
		text += line + (text[line] != '\0');
	}
}

void orr_about_json(FILE *f, const char *text)
{
	fputs("  \"run\": {", f);
	put_members(f, text, "\n    ", ",\n    ");
	fputs("\n  }", f);
}

void orr_about_members(FILE *f, const char *text)
{
	put_members(f, text, ", ", ", ");
}

void orr_about_work(FILE *f, const struct orr_run_work *w)
{
	const struct orrery_worker_times *t = &w->times;

	fprintf(f, "  \"workers\": %u,\n", w->nworkers);
	if (!w->timed)
		return;
	fprintf(f,
		"  \"worker_times_s\": {\"kernels\": %.9f, \"messages\": %.9f, \"submission\": %.9f, \"foreign\": %.9f, \"idle\": %.9f, \"data\": %.9f, \"runtime\": %.9f},\n",
		t->kernels_us * 1e-6, t->messages_us * 1e-6, t->submission_us * 1e-6,
		t->foreign_us * 1e-6, t->idle_us * 1e-6, t->data_us * 1e-6, t->runtime_us * 1e-6);
}

void orr_about_bytes(FILE *f, double bytes)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB" };
	int u = 0;

	for (; bytes >= 1000 && u < 5; u++)
		bytes /= 1000;
	fprintf(f, u ? "%.2f %s" : "%.0f %s", bytes, units[u]);
}
