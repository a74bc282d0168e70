/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Resource managers of an elastic run.
 *
 * Invariant: see elastic_manager.h. */
#include "elastic_manager.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "elastic_door.h"

enum {
	MOST_MANAGERS = 16,
	MOST_EVENTS = 100000 /* that a manager announces */
};

/* The host has failed, and its processes are gone. Nobody else may learn of that, because a host
 * that fails closes no connection. Those that are on this machine, in a rehearsal, are killed. */
static int fail_host(struct orr_peers *p, const char *name)
{
	int n = 0;
	for (int i = 0; i < p->n; i++) {
		struct orr_peer *c = &p->v[i];
		if (!orr_peers_is_open(c) || !c->host || !orr_dyn_same_host(c->host, name))
			continue;
		n += c->role == ORR_PEER_PROCESS;
		if ((c->role == ORR_PEER_PROCESS || c->role == ORR_PEER_EARLY) && c->here &&
		    c->pid > 1)
			p->end_process((pid_t) c->pid);
		orr_peers_end(p, i);
	}
	if (n)
		orr_dyn_away(p->registry, name);
	else
		orr_peers_say(p, "fail %s: no process of the run is on that host", name);
	return n ? 0 : -1;
}

static int obey(struct orr_peers *p, const struct orr_dyn_words *words)
{
	return orr_dyn_word_is(words, 0, "fail") ? fail_host(p, orr_dyn_word(words, 1))
						 : orr_dyn_demand(p->registry, words);
}

/* ok ALIVE LACKS HOST:N...: processes that have not ended (-1: none has begun), those that wait for
 * room, and those on each host. */
static void answer_status(const struct orr_peers *p, char *text, size_t size)
{
	const struct orr_dyn_words *rooms = orr_dyn_rooms(p->registry);
	size_t n = (size_t) snprintf(text, size, "ok %d %d",
				     p->arrived ? orr_dyn_registry_alive(p->registry) : -1,
				     orr_dyn_lacks(p->registry));
	for (int i = 0; i < rooms->n; i += 2) {
		size_t more = (size_t) snprintf(text + n, size - n, " %s:%d", rooms->w[i],
						orr_dyn_on_host(p->registry, rooms->w[i]));
		if (more + 1 >= size - n)
			break; /* the hosts that fit */
		n += more;
	}
	strcpy(text + n, "\n");
}

/* The reason for which those that wait for room get none; NULL: the value is none. */
static const char *reason(const char *value)
{
	static char why[128];
	char *end;
	double s = strtod(value, &end);
	if (!strcmp(value, "refused"))
		return "the resource manager refuses hosts";
	if (end == value || *end || !(s >= 0 && s < 1e9))
		return NULL;
	snprintf(why, sizeof(why), "the resource manager has given no hosts within %g s", s);
	return why;
}

/* Lines of a manager that gives rooms on hosts and takes them back (tools/orrery_slurm.py):
 *     host NAME:N     the host has room for N processes, 0: none from now on
 *     deny SECONDS    those that wait for room get none: nobody gave it in that time
 *     deny refused    the same: nobody will ever give it
 *     status          see answer_status()
 *     lost            mpirun has lost processes, so its status says nothing about the run
 *     finish          all processes have ended, some of them on hosts that mpirun cannot reach
 * NULL: it is no such line. The answer stays until the next call. */
static const char *grant(struct orr_peers *p, struct orr_peer *c)
{
	static char text[1 << 16];
	char what[16] = "", value[256] = "", rest[2];
	int n = sscanf(c->line, " %15s %255s %1s", what, value, rest);
	if (n == 1 && !strcmp(what, "status")) {
		answer_status(p, text, sizeof(text));
		return text;
	}
	if (n == 1 && !strcmp(what, "lost")) {
		p->finish = p->finish ? p->finish : 2;
		return "ok\n";
	}
	if (n == 1 && !strcmp(what, "finish")) {
		if (!p->arrived || orr_dyn_registry_alive(p->registry))
			return "error processes run\n";
		p->finish = 1;
		return "ok\n";
	}
	if (n != 2)
		return NULL;
	if (!strcmp(what, "deny")) {
		const char *why = reason(value);
		if (why)
			orr_dyn_deny(p->registry, why);
		return why ? "ok\n" : "error deny SECONDS or deny refused\n";
	}
	char *colon = strrchr(value, ':'), *end = NULL;
	if (strcmp(what, "host") || !colon)
		return NULL;
	*colon = 0;
	long room = strtol(colon + 1, &end, 10);
	if (end == colon + 1 || *end || room < 0 || room > ORR_DYN_MOST_PROCS ||
	    orr_dyn_room(p->registry, value, (int) room))
		return "error host NAME:N says how many processes a host has room for\n";
	c->grants = 1;
	return "ok\n";
}

static void serve_line(struct orr_peers *p, struct orr_peer *c)
{
	struct orr_dyn_words words = { 0 };
	const char *granted = grant(p, c), *answer = granted ? granted : "ok\n";
	if (granted) {
		/* it has its answer */
	} else if (orr_dyn_script_line(c->line, &words)) {
		if (p->script.n >= MOST_EVENTS)
			answer = "error too many lines with a time\n";
		else if (orr_dyn_script_add(&p->script, c->line, p->next_event))
			answer =
				"error known are grow N, shrink N, pool N, leave HOST and fail HOST, and `at SECONDS` before them\n";
	} else if (obey(p, &words)) {
		answer = "error refused\n";
	}
	if (send(c->s.fd, answer, strlen(answer), MSG_NOSIGNAL | MSG_DONTWAIT) !=
	    (ssize_t) strlen(answer))
		c->broken = 1; /* it does not read its answers */
	orr_dyn_words_free(&words);
}

void orr_manager_serve(struct orr_peers *p, int at)
{
	struct orr_peer *c = &p->v[at];
	ssize_t n = read(c->s.fd, c->line + c->length, sizeof(c->line) - 1 - c->length);
	char *end;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		orr_peers_end(p, at);
		return;
	}
	c->length += (size_t) n;
	c->line[c->length] = 0;
	while ((end = strchr(c->line, '\n'))) {
		*end = 0;
		serve_line(p, c);
		c->length -= (size_t) (end + 1 - c->line);
		memmove(c->line, end + 1, c->length + 1);
	}
	if (c->length == sizeof(c->line) - 1)
		orr_peers_end(p, at);
}

void orr_manager_follow(struct orr_peers *p)
{
	double t = orr_peers_now_s() - p->start_s;
	while (p->next_event < p->script.n && p->script.events[p->next_event].s <= t)
		obey(p, &p->script.events[p->next_event++].words);
}

void orr_manager_enter(struct orr_peers *p)
{
	int n = 0, fd = accept4(p->manager_door, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	for (int i = 0; i < p->n; i++)
		n += orr_peers_is_open(&p->v[i]) && p->v[i].role == ORR_PEER_MANAGER;
	if (fd >= 0 && (n >= MOST_MANAGERS || !orr_door_is_ours(fd)))
		close(fd);
	else if (fd >= 0)
		orr_peers_new(p, fd, ORR_PEER_MANAGER);
	else if (errno == EMFILE || errno == ENFILE)
		orr_peers_no_descriptors(p);
}
