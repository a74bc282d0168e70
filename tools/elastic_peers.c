/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The connections of the registry of an elastic run.
 *
 * Invariant: see elastic_peers.h. */
#include "elastic_peers.h"

#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "elastic_door.h"
#include "elastic_manager.h"

#define HELLO_S 10.0 /* in which a stranger has to say the key */
#define SHARE 0.01   /* of the time, for strangers */
#define REST_S 0.1   /* the longest time in which nobody looks after them */
enum {
	MOST_STRANGERS = 64,
	MOST_PENDING = 16, /* requests of a connection; our library makes one at a time */
	MOST_AT_ONCE = 32  /* connections taken, or requests of one served, before others */
};

double orr_peers_now_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

void orr_peers_say(struct orr_peers *p, const char *fmt, ...)
{
	char line[512];
	va_list list;
	va_start(list, fmt);
	vsnprintf(line, sizeof(line), fmt, list);
	va_end(list);
	p->say(p, line);
}

/* ---- requests ---- */

void orr_peers_reply(void *arg, int uid, unsigned ticket, const struct orr_dyn_words *answer)
{
	struct orr_peers *p = arg;
	(void) uid;
	for (int i = 0; i < p->ntickets; i++) {
		struct orr_ticket *t = &p->tickets[i];
		if (t->peer < 0 || t->ours != ticket)
			continue;
		struct orr_peer *c = &p->v[t->peer];
		c->npending--;
		if (orr_stream_send(&c->s, t->theirs, answer))
			c->broken = 1;
		t->peer = -1;
		return;
	}
}

static unsigned ticket_new(struct orr_peers *p, int peer, unsigned theirs)
{
	int at = 0;
	while (at < p->ntickets && p->tickets[at].peer >= 0)
		at++;
	if (at == p->ntickets) {
		p->ntickets = 2 * p->ntickets + 16;
		p->tickets = orr_dyn_memory(p->tickets, (size_t) p->ntickets * sizeof(*p->tickets));
		for (int i = at; i < p->ntickets; i++)
			p->tickets[i].peer = -1;
	}
	p->v[peer].npending++;
	p->tickets[at] = (struct orr_ticket){ peer, ++p->last_ticket, theirs };
	return p->last_ticket;
}

/* Nobody waits for what this connection asked. */
static void forget_requests(struct orr_peers *p, int at)
{
	for (int i = 0; i < p->ntickets; i++) {
		if (p->tickets[i].peer != at)
			continue;
		p->tickets[i].peer = -1;
		orr_dyn_forget(p->registry, p->v[at].uid, p->tickets[i].ours);
	}
}

/* ---- connections ---- */

int orr_peers_is_open(const struct orr_peer *c)
{
	return c->s.fd >= 0;
}

int orr_peers_new(struct orr_peers *p, int fd, enum orr_peer_role role)
{
	int at = 0;
	while (at < p->n && (orr_peers_is_open(&p->v[at]) || p->v[at].gone_s > 0))
		at++;
	if (at == p->n)
		p->v = orr_dyn_memory(p->v, (size_t) ++p->n * sizeof(*p->v));
	p->v[at] = (struct orr_peer){
		.s = orr_stream_of(fd), .role = role, .uid = -1, .since_s = orr_peers_now_s()
	};
	return at;
}

void orr_peers_end(struct orr_peers *p, int at)
{
	struct orr_peer *c = &p->v[at];
	orr_stream_close(&c->s);
	free(c->host);
	c->host = NULL;
	forget_requests(p, at);
	if (c->grants)
		orr_dyn_deny(p->registry, "the resource manager has gone");
	c->grants = 0;
	if (c->role == ORR_PEER_PROCESS)
		c->gone_s = orr_peers_now_s();
	else if (c->role == ORR_PEER_EARLY)
		orr_dyn_start_failed(p->registry, c->start);
}

void orr_peers_close(struct orr_peers *p)
{
	for (int i = 0; i < p->n; i++) {
		orr_stream_close(&p->v[i].s);
		free(p->v[i].host);
	}
	free(p->v);
	p->v = NULL;
	p->n = 0;
	free(p->tickets);
	p->tickets = NULL;
	p->ntickets = 0;
}

/* The place of the stranger who came first, and how many there are. */
static int oldest_stranger(const struct orr_peers *p, int *n)
{
	int oldest = -1;
	*n = 0;
	for (int i = 0; i < p->n; i++) {
		const struct orr_peer *c = &p->v[i];
		if (!orr_peers_is_open(c) || c->role != ORR_PEER_STRANGER)
			continue;
		++*n;
		if (oldest < 0 || c->since_s < p->v[oldest].since_s)
			oldest = i;
	}
	return oldest;
}

/* The run cannot go on without a process that failed. */
static void stop(struct orr_peers *p, int uid, int status)
{
	if (!p->status)
		p->status = status ? status : 1;
	orr_peers_say(
		p,
		"process %d %s while the others need it; ending the run (a set that is MALLEABLE would lose it)",
		uid, status ? "ended with an error" : "died");
	p->stop = 1;
}

static void process_end(struct orr_peers *p, int at)
{
	struct orr_peer *c = &p->v[at];
	c->gone_s = 0;
	int failed = !c->said_bye || c->status;
	if (c->status && !p->status)
		p->status = c->status;
	enum orr_dyn_end end = orr_dyn_gone(p->registry, c->uid, failed);
	/* The launcher may see a loss that the run survives, or see nothing and wait. */
	if (end == ORR_DYN_GOES_ON && !c->said_bye && !p->finish && orr_dyn_rooms(p->registry)->n)
		p->finish = 2;
	if (end == ORR_DYN_NEEDED)
		stop(p, c->uid, p->v[at].status);
	else if (end == ORR_DYN_NONE_LEFT && !p->status)
		p->status = 1;
}

/* mpirun needs a moment for the end of a process. New ones that it starts meanwhile have been seen
 * to wait for ever, one of them for its first answer from PMIx. */
#define FAREWELL_S 0.2

void orr_peers_tidy(struct orr_peers *p)
{
	double now = orr_peers_now_s();
	for (int i = 0; i < p->n; i++)
		if (p->v[i].gone_s > 0 && (!p->v[i].said_bye || now - p->v[i].gone_s > FAREWELL_S))
			process_end(p, i);
	for (int i = 0; i < p->n; i++) {
		const struct orr_peer *c = &p->v[i];
		if (orr_peers_is_open(c) &&
		    (c->broken || (c->role == ORR_PEER_STRANGER && now - c->since_s > HELLO_S)))
			orr_peers_end(p, i);
	}
}

/* ---- who they are ---- */

/* True if the other end of the connection is on this machine: both ends have one address. */
static int is_here(int fd)
{
	struct sockaddr_in mine = { 0 }, theirs = { 0 };
	socklen_t length = sizeof(mine);
	if (getsockname(fd, (struct sockaddr *) &mine, &length))
		return 0;
	length = sizeof(theirs);
	return !getpeername(fd, (struct sockaddr *) &theirs, &length) &&
	       mine.sin_addr.s_addr == theirs.sin_addr.s_addr;
}

/* True if the process of that uid is on a connection of its own, and this one is of the same. */
static int is_thread_of(const struct orr_peers *p, const struct orr_peer *c, int uid)
{
	for (int i = 0; i < p->n; i++) {
		const struct orr_peer *q = &p->v[i];
		if (orr_peers_is_open(q) && q->role == ORR_PEER_PROCESS && q->uid == uid)
			return q->pid == c->pid && q->here == c->here && !strcmp(q->host, c->host);
	}
	return 0;
}

/* A peer who says the key is no stranger any more. Returns its uid, 0 for one that is early; -1: it
 * is turned away; -2: it does not keep to the protocol. */
static int admit(struct orr_peers *p, struct orr_peer *c, const struct orr_dyn_words *words)
{
	int number = orr_dyn_count(words, 3, ORR_DYN_MOST_PROCS);
	c->start = orr_dyn_count(words, 6, INT_MAX);
	c->pid = orr_dyn_count(words, 5, INT_MAX);
	c->here = is_here(c->s.fd);
	free(c->host); /* it may have been here early */
	c->host = strdup(orr_dyn_word(words, 4));
	if (number < 0 || c->start < 0 || c->pid < 1 || !c->host)
		return -2;
	if (orr_dyn_word_is(words, 2, "early") && c->role == ORR_PEER_STRANGER) {
		c->role = ORR_PEER_EARLY;
		return 0;
	}
	if (orr_dyn_word_is(words, 2, "thread") && c->role == ORR_PEER_STRANGER) {
		if (!is_thread_of(p, c, number))
			return -2;
		c->role = ORR_PEER_THREAD;
		return c->uid = number;
	}
	if (!orr_dyn_word_is(words, 2, "process"))
		return -2;
	c->uid = orr_dyn_arrive(p->registry, c->start, number, c->host);
	c->role = c->uid < 0 ? ORR_PEER_STRANGER : ORR_PEER_PROCESS;
	p->arrived |= c->role == ORR_PEER_PROCESS;
	return c->uid;
}

/* hello KEY ROLE NUMBER HOST PID START: answered with ok UID, or leave. 0, or -1: the connection
 * has to end. */
static int greet(struct orr_peers *p, int at, const struct orr_dyn_words *words)
{
	struct orr_peer *c = &p->v[at];
	if (!orr_dyn_word_is(words, 0, "hello") || !orr_door_opens(p->key, orr_dyn_word(words, 1)))
		return -1;
	int uid = admit(p, c, words);
	if (uid < -1)
		return -1;
	struct orr_dyn_words answer = orr_dyn_words_of(uid < 0 ? "leave" : "ok", NULL);
	if (uid >= 0) {
		c->s.most = ORR_STREAM_PEER;
		orr_dyn_words_number(&answer, uid);
	}
	int ret = orr_stream_send(&c->s, 0, &answer);
	orr_dyn_words_free(&answer);
	return ret;
}

/* ---- what they say ---- */

/* One message. 0, or -1: the connection has to end. */
static int serve_message(struct orr_peers *p, int at, unsigned theirs,
			 const struct orr_dyn_words *words)
{
	struct orr_peer *c = &p->v[at];
	if (c->uid < 0)
		return greet(p, at, words);
	if (orr_dyn_word_is(words, 0, "bye")) {
		c->said_bye = 1;
		c->status = (int) orr_dyn_number(words, 1) & 255;
	} else {
		unsigned ticket = ticket_new(p, at, theirs);
		orr_dyn_request(p->registry, c->uid, ticket, words);
	}
	return 0;
}

static int may_serve(const struct orr_peer *c)
{
	return c->npending < MOST_PENDING && !c->broken;
}

void orr_peers_serve(struct orr_peers *p, int at)
{
	struct orr_peer *c = &p->v[at];
	int ended = orr_stream_read(&c->s), got = 0;
	for (int i = 0; i < MOST_AT_ONCE && may_serve(c) && got >= 0; i++) {
		struct orr_dyn_words words = { 0 };
		unsigned theirs;
		got = orr_stream_next(&c->s, &theirs, &words);
		if (!got)
			break;
		if (got > 0 && serve_message(p, at, theirs, &words))
			got = -1;
		orr_dyn_words_free(&words);
	}
	if (ended || got < 0)
		orr_peers_end(p, at);
}

void orr_peers_no_descriptors(struct orr_peers *p)
{
	int n, oldest = oldest_stranger(p, &n);
	if (oldest >= 0)
		orr_peers_end(p, oldest);
	else
		p->closed_until_s = orr_peers_now_s() + 0.1;
}

/* Takes connections of processes. One that has said who it is already is no stranger for long.
 * Returns how long it took, 0 if there was none but peers. */
static double enter(struct orr_peers *p)
{
	double begin = orr_peers_now_s();
	int nstrangers = 0;
	for (int i = 0; i < MOST_AT_ONCE; i++) {
		int n, fd = accept4(p->door, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0) {
			if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
				orr_peers_no_descriptors(p);
			break;
		}
		int at = orr_peers_new(p, fd, ORR_PEER_STRANGER);
		orr_peers_serve(p, at);
		nstrangers += p->v[at].role == ORR_PEER_STRANGER;
		int oldest = oldest_stranger(p, &n);
		if (n > MOST_STRANGERS)
			orr_peers_end(p, oldest);
	}
	return nstrangers ? orr_peers_now_s() - begin : 0;
}

/* Strangers took that long, and did not become peers. Unless they may be processes that are
 * expected, they have to wait until it is a small share of the time. */
static void rest(struct orr_peers *p, double took_s)
{
	double rest_s = took_s / SHARE < REST_S ? took_s / SHARE : REST_S;
	if (!orr_dyn_awaits(p->registry))
		p->closed_until_s = orr_peers_now_s() + rest_s;
}

/* The events to wait for at a connection. */
static short wanted(const struct orr_peer *c)
{
	return (short) ((may_serve(c) ? POLLIN : 0) | (c->s.nout ? POLLOUT : 0));
}

static void serve_event(struct orr_peers *p, int at, short events)
{
	struct orr_peer *c = &p->v[at];
	if (events & POLLOUT && orr_stream_flush(&c->s))
		c->broken = 1;
	if (c->role == ORR_PEER_MANAGER)
		orr_manager_serve(p, at);
	else if (may_serve(c))
		orr_peers_serve(p, at);
	else if (events & (POLLHUP | POLLERR))
		orr_peers_end(p, at);
}

/* Serves the bytes that have come on the connections that were there. Returns how long strangers
 * took. */
static double serve_peers(struct orr_peers *p, const struct pollfd *fds, int n)
{
	double took_s = 0;
	for (int i = 0; i < n; i++) {
		const struct orr_peer *c = &p->v[i];
		if (!orr_peers_is_open(c) || c->s.fd != fds[i].fd ||
		    (!fds[i].revents && !orr_stream_pending(&c->s)))
			continue;
		double begin = c->role == ORR_PEER_STRANGER ? orr_peers_now_s() : 0;
		serve_event(p, i, fds[i].revents);
		if (begin > 0 && p->v[i].role == ORR_PEER_STRANGER)
			took_s += orr_peers_now_s() - begin;
	}
	return took_s;
}

void orr_peers_serve_all(struct orr_peers *p)
{
	int n = p->n, moment_ms = 50, closed = orr_peers_now_s() < p->closed_until_s;
	struct pollfd *fds = orr_dyn_memory(NULL, (size_t) (n + 2) * sizeof(*fds));
	for (int i = 0; i < n; i++) {
		const struct orr_peer *c = &p->v[i];
		int waits = closed && c->role == ORR_PEER_STRANGER;
		fds[i] = (struct pollfd){ .fd = waits ? -1 : c->s.fd,
					  .events = orr_peers_is_open(c) ? wanted(c) : 0 };
		if (!waits && orr_peers_is_open(c) && may_serve(c) && orr_stream_pending(&c->s))
			moment_ms = 0;
	}
	fds[n] = (struct pollfd){ .fd = closed ? -1 : p->door, .events = POLLIN };
	fds[n + 1] = (struct pollfd){ .fd = p->manager_door, .events = POLLIN };
	if (poll(fds, (nfds_t) n + 2, moment_ms) >= 0) {
		double took_s = serve_peers(p, fds, n);
		if (fds[n].revents)
			took_s += enter(p);
		if (took_s > 0)
			rest(p, took_s);
		if (fds[n + 1].revents)
			orr_manager_enter(p);
	}
	free(fds);
}
