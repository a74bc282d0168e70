/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Matching of receives and envelopes: the early requests (receives without message) and the early
 * data (messages without receive).
 *
 * Both are maps keyed by a hash of (context, tag, source); entries of one key form a list, first in
 * first out, so that messages of one sender with one tag are taken in order. A receive from any
 * rank is posted under source ORR_MPI_ANY, and an envelope takes the older of the two candidates.
 *
 * Invariant: no early request matches any early data: whoever comes second takes the first. */
#include <errno.h>
#include <stdlib.h>
#include "mpi/carry/layer.h"
#include "mpi/carry/comm.h"
#include "mpi/carry/match.h"
#include "base/map.h"
#include "base/assert.h"

static uint64_t key_of(uint32_t context, int64_t tag, int source)
{
	return orr_mix64((uint64_t) tag * 0x9e3779b97f4a7c15ULL ^
			 ((uint64_t) context << 32 | (uint32_t) source));
}

static struct orr_mpi_req *req_of(struct orr_mpi_link *l)
{
	return (struct orr_mpi_req *) ((char *) l - offsetof(struct orr_mpi_req, link));
}

static struct orr_mpi_early *early_of(struct orr_mpi_link *l)
{
	return (struct orr_mpi_early *) ((char *) l - offsetof(struct orr_mpi_early, link));
}

void orr_mpi_match_init(struct orr_mpi *mpi)
{
	orr_map_init(&mpi->match.posted, offsetof(struct orr_mpi_link, key));
	orr_map_init(&mpi->match.earlies, offsetof(struct orr_mpi_link, key));
}

void orr_mpi_match_exit(struct orr_mpi *mpi)
{
	orr_map_exit(&mpi->match.posted);
	orr_map_exit(&mpi->match.earlies);
}

static int append(struct orr_map *map, struct orr_mpi_link *l)
{
	struct orr_mpi_link *first = orr_map_find(map, l->key);

	l->next = NULL;
	if (first) {
		orr_assert(first->key == l->key && first->tail && !first->tail->next);
		first->tail->next = l;
		first->tail = l;
		return 0;
	}
	l->tail = l;
	return orr_map_insert(map, l);
}

/* Takes l, which follows prev (NULL: it is the first), out of the list that begins at first. */
static void take_out(struct orr_map *map, struct orr_mpi_link *first, struct orr_mpi_link *prev,
		     struct orr_mpi_link *l)
{
	orr_assert(prev ? prev->next == l : first == l);
	if (prev) {
		prev->next = l->next;
		if (first->tail == l)
			first->tail = prev;
	} else if (l->next) {
		l->next->tail = l->tail;
		orr_map_replace(map, l, l->next);
	} else
		orr_map_remove(map, l);
	l->next = l->tail = NULL;
}

/* The first posted receive of exactly that context, tag and source. */
static struct orr_mpi_req *find_request(struct orr_mpi *mpi, const struct orr_mpi_envelope *env,
					int source, struct orr_mpi_link **first,
					struct orr_mpi_link **prev)
{
	struct orr_mpi_link *l = *first = orr_map_find(&mpi->match.posted,
						       key_of(env->context, env->tag, source));

	*prev = NULL;
	for (; l; *prev = l, l = l->next) {
		struct orr_mpi_req *req = req_of(l);
		if (req->context == env->context && req->tag == env->tag && req->peer == source)
			return req;
	}
	return NULL;
}

struct orr_mpi_req *orr_mpi_match_request(struct orr_mpi *mpi, const struct orr_mpi_envelope *env,
					  int source)
{
	struct orr_mpi_link *first, *prev, *any_first, *any_prev;

	orr_assert_locked(&mpi->lock);
	struct orr_mpi_req *req = find_request(mpi, env, source, &first, &prev);
	struct orr_mpi_req *any = find_request(mpi, env, ORR_MPI_ANY, &any_first, &any_prev);

	if (any && (!req || any->seq < req->seq)) {
		req = any;
		first = any_first;
		prev = any_prev;
	}
	if (!req)
		return NULL;
	orr_assert(req->kind == ORR_MPI_RECV && req->where == ORR_MPI_POSTED && !req->early);
	orr_assert(mpi->match.nposted > 0);
	take_out(&mpi->match.posted, first, prev, &req->link);
	ORR_ATOMIC_ADD_RELAXED(&mpi->match.nposted, -1);
	ORR_ATOMIC_STORE_RELAXED(&req->where, ORR_MPI_FETCHING);
	return req;
}

/* The first message for a receive from one rank. */
static struct orr_mpi_early *take_early(struct orr_mpi *mpi, uint32_t context, int64_t tag,
					int source)
{
	struct orr_mpi_link *first = orr_map_find(&mpi->match.earlies,
						  key_of(context, tag, source)),
			    *prev = NULL;

	for (struct orr_mpi_link *l = first; l; prev = l, l = l->next) {
		struct orr_mpi_early *e = early_of(l);
		if (e->env.context == context && e->env.tag == tag && e->source == source) {
			orr_assertf(!e->req, "a message that a receive took waits for another");
			take_out(&mpi->match.earlies, first, prev, l);
			return e;
		}
	}
	return NULL;
}

/* The oldest message of that tag from whichever rank. */
static struct orr_mpi_early *take_any(struct orr_mpi *mpi, uint32_t context, int64_t tag)
{
	for (struct orr_mpi_early *e = mpi->match.first; e; e = e->next)
		if (!e->req && e->env.context == context && e->env.tag == tag)
			return take_early(mpi, context, tag, e->source);
	return NULL;
}

int orr_mpi_match_post(struct orr_mpi *mpi, struct orr_mpi_req *req)
{
	struct orr_mpi_early *e = NULL;

	orr_assert_locked(&mpi->lock);
	orr_assert(req->kind == ORR_MPI_RECV && req->where == ORR_MPI_FETCHING && !req->early);
	if (mpi->match.first)
		e = req->peer == ORR_MPI_ANY ? take_any(mpi, req->context, req->tag)
					     : take_early(mpi, req->context, req->tag, req->peer);
	if (e) {
		e->req = req;
		req->early = e;
		req->peer = e->source;
		ORR_ATOMIC_STORE_RELAXED(&req->where, ORR_MPI_FETCHING);
		return 0;
	}
	req->link.key = key_of(req->context, req->tag, req->peer);
	int ret = append(&mpi->match.posted, &req->link);
	if (!ret) {
		ORR_ATOMIC_STORE_RELAXED(&req->where, ORR_MPI_POSTED);
		ORR_ATOMIC_ADD_RELAXED(&mpi->match.nposted, 1);
	}
	return ret;
}

void orr_mpi_match_withdraw(struct orr_mpi *mpi, struct orr_mpi_req *req)
{
	orr_assert_locked(&mpi->lock);
	if (req->where == ORR_MPI_POSTED) {
		struct orr_mpi_link *first = orr_map_find(&mpi->match.posted, req->link.key),
				    *prev = NULL;
		for (struct orr_mpi_link *l = first; l; prev = l, l = l->next)
			if (l == &req->link) {
				take_out(&mpi->match.posted, first, prev, l);
				ORR_ATOMIC_ADD_RELAXED(&mpi->match.nposted, -1);
				return;
			}
		orr_assertf(0, "a posted receive is not in the map");
	} else if (req->early) {
		req->early->req = NULL;
		append(&mpi->match.earlies, &req->early->link);
		req->early = NULL;
	}
}

struct orr_mpi_early *orr_mpi_early_new(struct orr_mpi *mpi, const struct orr_mpi_envelope *env,
					int source, struct orr_mpi_req *req)
{
	struct orr_mpi_early *e = calloc(1, sizeof(*e));
	struct orr_mpi_link *first, *prev;

	orr_assert_locked(&mpi->lock);
	orr_assert(!req || (req->kind == ORR_MPI_RECV && !req->early));
	orr_assertf(req || (!find_request(mpi, env, source, &first, &prev) &&
			    !find_request(mpi, env, ORR_MPI_ANY, &first, &prev)),
		    "a posted receive matches a message that is kept for a receive to come");
	if (!e)
		return NULL;
	e->env = *env;
	e->source = source;
	e->req = req;
	e->state = ORR_EARLY_REMOTE;
	if (req)
		req->early = e;
	else {
		e->link.key = key_of(env->context, env->tag, source);
		if (append(&mpi->match.earlies, &e->link)) {
			free(e);
			return NULL;
		}
	}
	e->prev = mpi->match.last;
	*(e->prev ? &e->prev->next : &mpi->match.first) = e;
	mpi->match.last = e;
	return e;
}

void orr_mpi_early_free(struct orr_mpi *mpi, struct orr_mpi_early *e)
{
	orr_assert_locked(&mpi->lock);
	orr_assert((e->prev ? e->prev->next : mpi->match.first) == e);
	orr_assert((e->next ? e->next->prev : mpi->match.last) == e);
	orr_assertf(e->req && !e->req->early, "a message is freed before its receive took it");
	*(e->prev ? &e->prev->next : &mpi->match.first) = e->next;
	*(e->next ? &e->next->prev : &mpi->match.last) = e->prev;
	free(e);
}
