/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orrery-elastic: the registry of an elastic run of the real world, and the parent of its mpirun.
 *
 *     orrery-elastic N POOL MANAGER COMMAND...
 *
 * It starts COMMAND with $ORRERY_DYN_SERVER, answers the requests of the processes
 * (dyn/registry.h), and follows the resource manager: MANAGER is `script:FILE` (dyn/script.h),
 * `unix:PATH`, a socket that it listens on for lines with or without a time, each of which it
 * answers with "ok" or "error TEXT", or `-` for none. `orrery run --elastic` is how people start
 * it.
 *
 * The exit status is COMMAND's, or that of the first process of the run that failed; 1 if no
 * process came.
 *
 * Who connects is a stranger until it has said the run's key: it gets a small buffer and a short
 * time, and when there are many of them the oldest one goes. A peer, too, has a budget of requests,
 * of bytes that it sends and of bytes that wait for it.
 *
 * Invariant: one thread, one loop; it waits only where it polls. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "dyn/registry.h"
#include "dyn/script.h"
#include "elastic_door.h"
#include "elastic_stream.h"

enum role { STRANGER, EARLY, PROCESS, THREAD, MANAGER };

#define HELLO_S 10.0 /* in which a stranger has to say the key */
enum {
	MOST_STRANGERS = 64,
	MOST_MANAGERS = 16,
	MOST_EVENTS = 100000, /* that a manager announces */
	MOST_PENDING = 16,    /* requests of a connection; our library makes one at a time */
	MOST_AT_ONCE = 32     /* connections taken, or requests of one served, before others */
};

struct conn {
	struct orr_stream s;
	enum role role;
	int uid, start; /* which start its process is of, 0: of the first ones */
	long pid;       /* of its process, as that says */
	int here;       /* its process is on this machine */
	char *host;     /* of its process */
	double since_s; /* when it connected */
	int npending;   /* requests without an answer */
	int broken;     /* to be closed: it does not read its answers, or is gone */
	int status, said_bye;
	double gone_s;  /* when its process ended, 0: not; the registry learns of it a little later
			 */
	char line[256]; /* of a manager */
	size_t length;
};

/* A request under way. The registry knows it by a number of ours that no other has. */
struct ticket {
	int conn; /* -1: free */
	unsigned ours, theirs;
};

static struct {
	struct orr_dyn_registry *registry;
	struct conn *conns; /* fd -1: free */
	int nconns;
	struct ticket *tickets;
	int ntickets;
	unsigned last_ticket;
	int door, manager_door;
	double closed_until_s; /* the door, when there are no descriptors */
	struct rlimit files;   /* of the command */
	const char *manager_path;
	struct orr_dyn_script script;
	int next_event;
	double start_s;
	char key[33];
	pid_t child;
	int status;
	int arrived;                    /* a process of the run has called MPI_Session_init() */
	double patience_s, expecting_s; /* for processes that start; since when, 0: none do */
} run = { .door = -1, .manager_door = -1 };

static volatile sig_atomic_t signalled;

static void __attribute__((format(printf, 1, 2), noreturn)) die(const char *fmt, ...)
{
	va_list list;
	va_start(list, fmt);
	fprintf(stderr, "orrery run: ");
	vfprintf(stderr, fmt, list);
	fprintf(stderr, "\n");
	va_end(list);
	if (run.manager_path)
		unlink(run.manager_path);
	exit(1);
}

static double now_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

/* ---- what the registry asks for ---- */

static double since_start_s(void *arg)
{
	(void) arg;
	return now_s() - run.start_s;
}

static void say(void *arg, const char *line)
{
	(void) arg;
	fprintf(stderr, "orrery run: %s\n", line);
}

static void reply(void *arg, int uid, unsigned ticket, const struct orr_dyn_words *answer)
{
	(void) arg;
	(void) uid;
	for (int i = 0; i < run.ntickets; i++) {
		struct ticket *t = &run.tickets[i];
		if (t->conn < 0 || t->ours != ticket)
			continue;
		struct conn *c = &run.conns[t->conn];
		c->npending--;
		if (orr_stream_send(&c->s, t->theirs, answer))
			c->broken = 1;
		t->conn = -1;
		return;
	}
}

static unsigned ticket_new(int conn, unsigned theirs)
{
	int at = 0;
	while (at < run.ntickets && run.tickets[at].conn >= 0)
		at++;
	if (at == run.ntickets) {
		run.ntickets = 2 * run.ntickets + 16;
		run.tickets = orr_dyn_memory(run.tickets,
					     (size_t) run.ntickets * sizeof(*run.tickets));
		for (int i = at; i < run.ntickets; i++)
			run.tickets[i].conn = -1;
	}
	run.conns[conn].npending++;
	run.tickets[at] = (struct ticket){ conn, ++run.last_ticket, theirs };
	return run.last_ticket;
}

/* ---- connections ---- */

static int is_open(const struct conn *c)
{
	return c->s.fd >= 0;
}

static int conn_new(int fd, enum role role)
{
	int at = 0;
	while (at < run.nconns && (is_open(&run.conns[at]) || run.conns[at].gone_s > 0))
		at++;
	if (at == run.nconns)
		run.conns = orr_dyn_memory(run.conns, (size_t) ++run.nconns * sizeof(*run.conns));
	run.conns[at] = (struct conn){
		.s = orr_stream_of(fd), .role = role, .uid = -1, .since_s = now_s()
	};
	return at;
}

/* The run cannot go on without a process that failed. */
static void stop(int uid, int status)
{
	if (!run.status)
		run.status = status ? status : 1;
	fprintf(stderr,
		"orrery run: process %d %s while the others need it; ending the run (a set that is MALLEABLE would lose it)\n",
		uid, status ? "ended with an error" : "died");
	kill(run.child, SIGTERM);
}

/* mpirun needs a moment for the end of a process. New ones that it starts meanwhile have been seen
 * to wait for ever, one of them for its first answer from PMIx. */
#define FAREWELL_S 0.2

/* Nobody waits for what this connection asked. */
static void forget_requests(int at)
{
	for (int i = 0; i < run.ntickets; i++) {
		if (run.tickets[i].conn != at)
			continue;
		run.tickets[i].conn = -1;
		orr_dyn_forget(run.registry, run.conns[at].uid, run.tickets[i].ours);
	}
}

static void conn_end(int at)
{
	struct conn *c = &run.conns[at];
	orr_stream_close(&c->s);
	free(c->host);
	c->host = NULL;
	forget_requests(at);
	if (c->role == PROCESS)
		c->gone_s = now_s();
	else if (c->role == EARLY)
		orr_dyn_start_failed(run.registry, c->start);
}

/* The place of the stranger who came first, and how many there are. */
static int oldest_stranger(int *n)
{
	int oldest = -1;
	*n = 0;
	for (int i = 0; i < run.nconns; i++) {
		const struct conn *c = &run.conns[i];
		if (!is_open(c) || c->role != STRANGER)
			continue;
		++*n;
		if (oldest < 0 || c->since_s < run.conns[oldest].since_s)
			oldest = i;
	}
	return oldest;
}

/* Ends connections that do not say who they are in time, or that do not take their answers. */
static void end_idle(void)
{
	double now = now_s();
	for (int i = 0; i < run.nconns; i++) {
		const struct conn *c = &run.conns[i];
		if (is_open(c) &&
		    (c->broken || (c->role == STRANGER && now - c->since_s > HELLO_S)))
			conn_end(i);
	}
}

static void process_end(int at)
{
	struct conn *c = &run.conns[at];
	c->gone_s = 0;
	int failed = !c->said_bye || c->status;
	if (c->status && !run.status)
		run.status = c->status;
	enum orr_dyn_end end = orr_dyn_gone(run.registry, c->uid, failed);
	if (end == ORR_DYN_NEEDED)
		stop(c->uid, run.conns[at].status);
	else if (end == ORR_DYN_NONE_LEFT && !run.status)
		run.status = 1;
}

static void end_processes(void)
{
	for (int i = 0; i < run.nconns; i++)
		if (run.conns[i].gone_s > 0 &&
		    (!run.conns[i].said_bye || now_s() - run.conns[i].gone_s > FAREWELL_S))
			process_end(i);
}

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
static int is_thread_of(const struct conn *c, int uid)
{
	for (int i = 0; i < run.nconns; i++) {
		const struct conn *p = &run.conns[i];
		if (is_open(p) && p->role == PROCESS && p->uid == uid)
			return p->pid == c->pid && p->here == c->here && !strcmp(p->host, c->host);
	}
	return 0;
}

/* Who says the key is no stranger any more. Returns its uid, 0 for one that is early; -1: it is
 * turned away; -2: it does not keep to the protocol. */
static int admit(struct conn *c, const struct orr_dyn_words *words)
{
	int number = orr_dyn_count(words, 3, ORR_DYN_MOST_PROCS);
	c->start = orr_dyn_count(words, 6, INT_MAX);
	c->pid = orr_dyn_count(words, 5, INT_MAX);
	c->here = is_here(c->s.fd);
	free(c->host); /* it may have been here early */
	c->host = strdup(orr_dyn_word(words, 4));
	if (number < 0 || c->start < 0 || c->pid < 1 || !c->host)
		return -2;
	if (orr_dyn_word_is(words, 2, "early") && c->role == STRANGER) {
		c->role = EARLY;
		return 0;
	}
	if (orr_dyn_word_is(words, 2, "thread") && c->role == STRANGER) {
		if (!is_thread_of(c, number))
			return -2;
		c->role = THREAD;
		return c->uid = number;
	}
	if (!orr_dyn_word_is(words, 2, "process"))
		return -2;
	c->uid = orr_dyn_arrive(run.registry, c->start, number, c->host);
	c->role = c->uid < 0 ? STRANGER : PROCESS;
	run.arrived |= c->role == PROCESS;
	return c->uid;
}

/* hello KEY ROLE NUMBER HOST PID START: answered with ok UID, or leave. 0, or -1: the connection
 * has to end. */
static int greet(int at, const struct orr_dyn_words *words)
{
	struct conn *c = &run.conns[at];
	if (!orr_dyn_word_is(words, 0, "hello") || !orr_door_opens(run.key, orr_dyn_word(words, 1)))
		return -1;
	int uid = admit(c, words);
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

/* One message. 0, or -1: the connection has to end. */
static int serve_message(int at, unsigned theirs, const struct orr_dyn_words *words)
{
	struct conn *c = &run.conns[at];
	if (c->uid < 0)
		return greet(at, words);
	if (orr_dyn_word_is(words, 0, "bye")) {
		c->said_bye = 1;
		c->status = (int) orr_dyn_number(words, 1) & 255;
	} else {
		unsigned ticket = ticket_new(at, theirs);
		orr_dyn_request(run.registry, c->uid, ticket, words);
	}
	return 0;
}

static int may_serve(const struct conn *c)
{
	return c->npending < MOST_PENDING && !c->broken;
}

/* Takes what has come, and serves some of it. */
static void serve(int at)
{
	struct conn *c = &run.conns[at];
	int ended = orr_stream_read(&c->s), got = 0;
	for (int i = 0; i < MOST_AT_ONCE && may_serve(c) && got >= 0; i++) {
		struct orr_dyn_words words = { 0 };
		unsigned theirs;
		got = orr_stream_next(&c->s, &theirs, &words);
		if (!got)
			break;
		if (got > 0 && serve_message(at, theirs, &words))
			got = -1;
		orr_dyn_words_free(&words);
	}
	if (ended || got < 0)
		conn_end(at);
}

/* ---- the resource manager ---- */

/* The host has failed, and its processes are gone. Nobody else may learn of that, because a host
 * that fails closes no connection. Those that are on this machine, in a rehearsal, are killed. */
static int fail_host(const char *name)
{
	int n = 0;
	for (int i = 0; i < run.nconns; i++) {
		struct conn *c = &run.conns[i];
		if (!is_open(c) || !c->host || !orr_dyn_same_host(c->host, name))
			continue;
		n += c->role == PROCESS;
		if ((c->role == PROCESS || c->role == EARLY) && c->here && c->pid > 1)
			kill((pid_t) c->pid, SIGKILL);
		conn_end(i);
	}
	if (n)
		orr_dyn_away(run.registry, name);
	else
		fprintf(stderr, "orrery run: fail %s: no process of the run is on that host\n",
			name);
	return n ? 0 : -1;
}

static int obey(const struct orr_dyn_words *words)
{
	return orr_dyn_word_is(words, 0, "fail") ? fail_host(orr_dyn_word(words, 1))
						 : orr_dyn_demand(run.registry, words);
}

static void manager_line(struct conn *c)
{
	struct orr_dyn_words words = { 0 };
	const char *answer = "ok\n";
	if (orr_dyn_script_line(c->line, &words)) {
		if (run.script.n >= MOST_EVENTS)
			answer = "error too many lines with a time\n";
		else if (orr_dyn_script_add(&run.script, c->line, run.next_event))
			answer =
				"error known are grow N, shrink N, pool N, leave HOST and fail HOST, and `at SECONDS` before them\n";
	} else if (obey(&words)) {
		answer = "error refused\n";
	}
	if (send(c->s.fd, answer, strlen(answer), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		c->broken = 1; /* it does not read its answers */
	orr_dyn_words_free(&words);
}

static void serve_manager(int at)
{
	struct conn *c = &run.conns[at];
	ssize_t n = read(c->s.fd, c->line + c->length, sizeof(c->line) - 1 - c->length);
	char *end;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		conn_end(at);
		return;
	}
	c->length += (size_t) n;
	c->line[c->length] = 0;
	while ((end = strchr(c->line, '\n'))) {
		*end = 0;
		manager_line(c);
		c->length -= (size_t) (end + 1 - c->line);
		memmove(c->line, end + 1, c->length + 1);
	}
	if (c->length == sizeof(c->line) - 1)
		conn_end(at);
}

static void follow_script(void)
{
	double t = now_s() - run.start_s;
	while (run.next_event < run.script.n && run.script.events[run.next_event].s <= t)
		obey(&run.script.events[run.next_event++].words);
}

static void open_manager(const char *manager)
{
	static char why[512];
	if (!strncmp(manager, "script:", 7)) {
		const char *wrong = orr_dyn_script_read(&run.script, manager + 7);
		if (wrong)
			die("%s", wrong);
	} else if (!strncmp(manager, "unix:", 5)) {
		run.manager_door = orr_door_manager(manager + 5, why, sizeof(why));
		if (run.manager_door < 0)
			die("%s", why);
		run.manager_path = manager + 5;
	} else if (strcmp(manager, "-")) {
		die("--manager %s: give script:FILE or unix:PATH", manager);
	}
}

/* ---- start, loop, end ---- */

static void on_signal(int sig)
{
	signalled = sig;
}

/* Opens the door for processes, here and on other hosts, and tells them where it is. */
static void open_door(void)
{
	char where[384], text[512];
	if (orr_door_key(run.key))
		die("there are no random numbers: %s", strerror(errno));
	run.door = orr_door_processes(getenv("ORRERY_DYN_HOSTS"), where, sizeof(where));
	if (run.door < 0)
		die("%s", where);
	snprintf(text, sizeof(text), "%s:%s", where, run.key);
	setenv("ORRERY_DYN_SERVER", text, 1);
	unsetenv("ORRERY_DYN_HOSTS");
}

/* As many descriptors as the system lets us have: each process of the run takes one. */
static void raise_limit(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &run.files))
		die("cannot read the limit of open files: %s", strerror(errno));
	limit = run.files;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void start_child(char **command)
{
	const struct sigaction action = { .sa_handler = on_signal };
	run.child = fork();
	if (run.child < 0)
		die("cannot start a process: %s", strerror(errno));
	if (!run.child) {
		setrlimit(RLIMIT_NOFILE, &run.files);
		execvp(command[0], command);
		fprintf(stderr, "orrery run: %s: %s\n", command[0], strerror(errno));
		_exit(127);
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* Without descriptors, the oldest stranger gives up one, or the door is closed for a moment. */
static void no_descriptors(void)
{
	int n, oldest = oldest_stranger(&n);
	if (oldest >= 0)
		conn_end(oldest);
	else
		run.closed_until_s = now_s() + 0.1;
}

/* Takes connections of processes. One that has said who it is already is no stranger for long. */
static void enter(void)
{
	for (int i = 0; i < MOST_AT_ONCE; i++) {
		int n, fd = accept4(run.door, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0) {
			if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
				no_descriptors();
			return;
		}
		int at = conn_new(fd, STRANGER);
		serve(at);
		int oldest = oldest_stranger(&n);
		if (n > MOST_STRANGERS)
			conn_end(oldest);
	}
}

static void enter_manager(void)
{
	int n = 0, fd = accept4(run.manager_door, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	for (int i = 0; i < run.nconns; i++)
		n += is_open(&run.conns[i]) && run.conns[i].role == MANAGER;
	if (fd >= 0 && (n >= MOST_MANAGERS || !orr_door_is_ours(fd)))
		close(fd);
	else if (fd >= 0)
		conn_new(fd, MANAGER);
	else if (errno == EMFILE || errno == ENFILE)
		no_descriptors();
}

/* The events to wait for at a connection. */
static short wanted(const struct conn *c)
{
	return (short) ((may_serve(c) ? POLLIN : 0) | (c->s.nout ? POLLOUT : 0));
}

static void serve_event(int at, short events)
{
	struct conn *c = &run.conns[at];
	if (events & POLLOUT && orr_stream_flush(&c->s))
		c->broken = 1;
	if (c->role == MANAGER)
		serve_manager(at);
	else if (may_serve(c))
		serve(at);
	else if (events & (POLLHUP | POLLERR))
		conn_end(at);
}

/* Waits until somebody wants something, or a moment, and serves all. */
static void serve_all(void)
{
	int n = run.nconns, moment_ms = 50;
	struct pollfd *fds = orr_dyn_memory(NULL, (size_t) (n + 2) * sizeof(*fds));
	for (int i = 0; i < n; i++) {
		const struct conn *c = &run.conns[i];
		fds[i] = (struct pollfd){ .fd = c->s.fd, .events = is_open(c) ? wanted(c) : 0 };
		if (is_open(c) && may_serve(c) && orr_stream_pending(&c->s))
			moment_ms = 0;
	}
	int door = now_s() < run.closed_until_s ? -1 : run.door;
	fds[n] = (struct pollfd){ .fd = door, .events = POLLIN };
	fds[n + 1] = (struct pollfd){ .fd = run.manager_door, .events = POLLIN };
	if (poll(fds, (nfds_t) n + 2, moment_ms) >= 0) {
		for (int i = 0; i < n; i++)
			if (is_open(&run.conns[i]) && run.conns[i].s.fd == fds[i].fd &&
			    (fds[i].revents || orr_stream_pending(&run.conns[i].s)))
				serve_event(i, fds[i].revents);
		if (fds[n].revents)
			enter();
		if (fds[n + 1].revents)
			enter_manager();
	}
	free(fds);
}

/* MPI_Comm_spawn() does not return when a program ends before it initialises MPI, and with it hangs
 * the process that called it. So the run ends. */
static void watch_starts(void)
{
	if (!orr_dyn_expecting(run.registry))
		run.expecting_s = 0;
	else if (run.expecting_s <= 0)
		run.expecting_s = now_s();
	if (run.expecting_s <= 0 || now_s() - run.expecting_s < run.patience_s || run.status)
		return;
	fprintf(stderr,
		"orrery run: new processes did not call MPI_Session_init() within %g s; ending the run ($ORRERY_DYN_PATIENCE sets the time)\n",
		run.patience_s);
	run.status = 1;
	kill(run.child, SIGTERM);
}

/* Serves requests until the command has ended. Returns its status. */
static int loop(void)
{
	int status;
	while (waitpid(run.child, &status, WNOHANG) == 0) {
		if (signalled) {
			kill(run.child, signalled);
			signalled = 0;
		}
		follow_script();
		end_processes();
		end_idle();
		watch_starts();
		serve_all();
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The launcher reports no error of processes that do not initialise MPI: those of a program whose
 * library of process sets is missing, for instance. */
static int judge(int status)
{
	if (run.status || status || run.arrived)
		return run.status ? run.status : status;
	fprintf(stderr,
		"orrery run: no process of the elastic run called MPI_Session_init(); build the program with `orrery cc --elastic`, link it with orrery-dyn, or leave --elastic out\n");
	return 1;
}

int main(int argc, char **argv)
{
	const struct orr_dyn_host host = { .reply = reply, .say = say, .now_s = since_start_s };
	if (argc < 5)
		die("usage: orrery-elastic N POOL MANAGER COMMAND...; `orrery run --elastic` is how it is started");
	const char *patience = getenv("ORRERY_DYN_PATIENCE");
	run.patience_s = patience && atof(patience) > 0 ? atof(patience) : 60;
	run.start_s = now_s();
	run.registry = orr_dyn_registry_new(&host, atoi(argv[1]), atoi(argv[2]));
	open_manager(argv[3]);
	open_door();
	raise_limit();
	start_child(argv + 4);
	int status = loop();
	for (int i = 0; i < run.nconns; i++) {
		orr_stream_close(&run.conns[i].s);
		free(run.conns[i].host);
	}
	free(run.conns);
	run.conns = NULL;
	run.nconns = 0;
	free(run.tickets);
	run.ntickets = 0;
	if (run.manager_path)
		unlink(run.manager_path);
	orr_dyn_script_free(&run.script);
	orr_dyn_registry_free(run.registry);
	return judge(status);
}
