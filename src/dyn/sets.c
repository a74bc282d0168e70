/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Processes and named sets of them.
 *
 * Invariant: see sets.h. */
#include "dyn/sets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/assert.h"

#define WORLD "mpi://WORLD"
#define SELF "mpi://SELF"

int orr_dyn_proc_new(struct orr_dyn_sets *s, int world)
{
	s->procs = orr_dyn_memory(s->procs, (size_t) (s->nprocs + 1) * sizeof(*s->procs));
	s->kept += sizeof(*s->procs);
	s->procs[s->nprocs] = (struct orr_dyn_proc){ .state = ORR_DYN_EXPECTED, .world = world };
	return s->nprocs++;
}

int orr_dyn_set_new(struct orr_dyn_sets *s, const char *name, const int *uids, int n)
{
	struct orr_dyn_set *set = orr_dyn_memory(NULL, sizeof(*set));
	char text[64];
	if (!name) {
		snprintf(text, sizeof(text), "prrte://base_name/%d", s->counter++);
		name = text;
	}
	*set = (struct orr_dyn_set){ .n = n };
	set->name = strcpy(orr_dyn_memory(NULL, strlen(name) + 1), name);
	set->uids = orr_dyn_memory(NULL, (size_t) n * sizeof(*uids));
	if (n)
		memcpy(set->uids, uids, (size_t) n * sizeof(*uids));
	s->sets = orr_dyn_memory(s->sets, (size_t) (s->nsets + 1) * sizeof(*s->sets));
	s->sets[s->nsets] = set;
	s->kept += sizeof(*set) + strlen(name) + (size_t) n * sizeof(*uids);
	return s->nsets++;
}

/* The set of one process; it has a number like others, once somebody asks for it. */
static int find_self(struct orr_dyn_sets *s, int uid)
{
	char name[64];
	snprintf(name, sizeof(name), SELF "/%d", uid);
	for (int i = 0; i < s->nsets; i++)
		if (!strcmp(s->sets[i]->name, name))
			return i;
	return orr_dyn_set_new(s, name, &uid, 1);
}

int orr_dyn_set_find(struct orr_dyn_sets *s, int uid, const char *name)
{
	orr_assert(uid >= 0 && uid < s->nprocs);
	if (!strcmp(name, WORLD))
		return s->procs[uid].world;
	if (!strcmp(name, SELF))
		return find_self(s, uid);
	for (int i = s->nsets - 1; i >= 0; i--)
		if (!strcmp(s->sets[i]->name, name))
			return i;
	return -1;
}

int orr_dyn_set_place(const struct orr_dyn_set *set, int uid)
{
	for (int i = 0; i < set->n; i++)
		if (set->uids[i] == uid)
			return i;
	return -1;
}

const char *orr_dyn_set_name(const struct orr_dyn_sets *s, int number)
{
	return s->sets[number]->name;
}

const char *orr_dyn_set_value(const struct orr_dyn_set *set, const char *key)
{
	for (int i = 0; i < set->dict.n; i += 2)
		if (!strcmp(set->dict.w[i], key))
			return set->dict.w[i + 1];
	return NULL;
}

void orr_dyn_set_put(struct orr_dyn_sets *s, int number, const char *key, const char *value)
{
	struct orr_dyn_set *set = s->sets[number];
	s->kept += strlen(value);
	for (int i = 0; i < set->dict.n; i += 2) {
		if (strcmp(set->dict.w[i], key))
			continue;
		s->kept -= strlen(set->dict.w[i + 1]);
		free(set->dict.w[i + 1]);
		set->dict.w[i + 1] = strcpy(orr_dyn_memory(NULL, strlen(value) + 1), value);
		return;
	}
	s->kept += strlen(key) + 2 * sizeof(char *);
	orr_dyn_words_add(&set->dict, key);
	orr_dyn_words_add(&set->dict, value);
}

int orr_dyn_sets_alive(const struct orr_dyn_sets *s)
{
	int n = 0;
	for (int i = 0; i < s->nprocs; i++)
		n += s->procs[i].state != ORR_DYN_GONE && !s->procs[i].leaving;
	return n;
}

void orr_dyn_sets_free(struct orr_dyn_sets *s)
{
	for (int i = 0; i < s->nsets; i++) {
		orr_dyn_words_free(&s->sets[i]->dict);
		free(s->sets[i]->uids);
		free(s->sets[i]->name);
		free(s->sets[i]);
	}
	for (int i = 0; i < s->nprocs; i++)
		free(s->procs[i].host);
	free(s->sets);
	free(s->procs);
	*s = (struct orr_dyn_sets){ 0 };
}

/* ---- algebra ---- */

/* For each uid up to the greatest one, in how many of the sets from `first` on the process is;
 * allocated. */
static int *counts_of(const struct orr_dyn_set *const *in, int first, int nin)
{
	int most = -1;
	for (int i = 0; i < nin; i++)
		for (int k = 0; k < in[i]->n; k++)
			most = in[i]->uids[k] > most ? in[i]->uids[k] : most;
	size_t bytes = (size_t) (most + 1) * sizeof(int);
	int *counts = memset(orr_dyn_memory(NULL, bytes), 0, bytes);
	for (int i = first; i < nin; i++)
		for (int k = 0; k < in[i]->n; k++)
			counts[in[i]->uids[k]]++;
	return counts;
}

int orr_dyn_union(const struct orr_dyn_set *const *in, int nin, int *out)
{
	int n = 0, *fresh = counts_of(in, 0, nin);
	for (int i = 0; i < nin; i++)
		for (int k = 0; k < in[i]->n; k++)
			if (fresh[in[i]->uids[k]]) {
				fresh[in[i]->uids[k]] = 0;
				out[n++] = in[i]->uids[k];
			}
	free(fresh);
	return n;
}

int orr_dyn_difference(const struct orr_dyn_set *const *in, int nin, int *out)
{
	int n = 0, *others = counts_of(in, 1, nin);
	for (int k = 0; k < in[0]->n; k++)
		if (!others[in[0]->uids[k]])
			out[n++] = in[0]->uids[k];
	free(others);
	return n;
}

int orr_dyn_fill(const struct orr_dyn_set *const *in, int nin, int *out)
{
	int last = in[0]->n, n = 0, *others = counts_of(in, 1, nin);
	for (int k = 0; k < last; k++) {
		int uid = in[0]->uids[k];
		while (others[uid] && --last > k)
			uid = in[0]->uids[last];
		if (k < last)
			out[n++] = uid;
	}
	free(others);
	return n;
}

int orr_dyn_intersection(const struct orr_dyn_set *const *in, int nin, int *out)
{
	int n = 0, *others = counts_of(in, 1, nin);
	for (int k = 0; k < in[0]->n; k++)
		if (others[in[0]->uids[k]] == nin - 1)
			out[n++] = in[0]->uids[k];
	free(others);
	return n;
}
