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
 * Invariant: one thread, one loop; it waits only where it polls. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "dyn/registry.h"
#include "dyn/script.h"
#include "sys/dyn_wire.h"

enum role { STRANGER, EARLY, PROCESS, THREAD, MANAGER };

struct conn {
	int fd;
	enum role role;
	int uid, start; /* which start its process is of, 0: of the first ones */
	pid_t pid;      /* of its process if that is on this machine, 0: it is on another one */
	char *host;     /* of its process */
	int status, said_bye;
	double gone_s;  /* when its process ended, 0: not; the registry learns of it a little later
			 */
	char line[256]; /* of a manager */
	size_t length;
};

/* A request under way: the registry knows its number in this table as its ticket. */
struct ticket {
	int conn; /* -1: free */
	unsigned theirs;
};

static struct {
	struct orr_dyn_registry *registry;
	struct conn *conns; /* fd -1: free */
	int nconns;
	struct ticket *tickets;
	int ntickets;
	int door, manager_door;
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
	struct ticket *t = &run.tickets[ticket];
	(void) arg;
	(void) uid;
	if (t->conn >= 0 && run.conns[t->conn].fd >= 0)
		orr_dyn_wire_send(run.conns[t->conn].fd, t->theirs, answer);
	t->conn = -1;
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
	run.tickets[at] = (struct ticket){ conn, theirs };
	return (unsigned) at;
}

/* ---- connections ---- */

static void conn_new(int fd, enum role role)
{
	int at = 0;
	while (at < run.nconns && (run.conns[at].fd >= 0 || run.conns[at].gone_s > 0))
		at++;
	if (at == run.nconns)
		run.conns = orr_dyn_memory(run.conns, (size_t) ++run.nconns * sizeof(*run.conns));
	run.conns[at] = (struct conn){ .fd = fd, .role = role, .uid = -1 };
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

static void conn_end(int at)
{
	struct conn *c = &run.conns[at];
	close(c->fd);
	c->fd = -1;
	free(c->host);
	c->host = NULL;
	for (int i = 0; i < run.ntickets; i++)
		if (run.tickets[i].conn == at)
			run.tickets[i].conn = -1;
	if (c->role == PROCESS)
		c->gone_s = now_s();
	else if (c->role == EARLY)
		orr_dyn_start_failed(run.registry, c->start);
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

/* hello KEY ROLE NUMBER HOST PID START: answered with ok UID, or leave. */
static void greet(int at, const struct orr_dyn_words *words)
{
	struct conn *c = &run.conns[at];
	struct orr_dyn_words answer = { 0 };
	int number = (int) orr_dyn_number(words, 3), uid = number;
	if (!orr_dyn_word_is(words, 0, "hello") || !orr_dyn_word_is(words, 1, run.key)) {
		conn_end(at);
		return;
	}
	c->role = orr_dyn_word_is(words, 2, "thread")  ? THREAD
		  : orr_dyn_word_is(words, 2, "early") ? EARLY
						       : PROCESS;
	c->start = (int) orr_dyn_number(words, 6);
	c->pid = is_here(c->fd) ? (pid_t) orr_dyn_number(words, 5) : 0;
	free(c->host); /* it may have been here early */
	c->host = strdup(orr_dyn_word(words, 4));
	if (c->role == PROCESS)
		uid = orr_dyn_arrive(run.registry, c->start, number, orr_dyn_word(words, 4));
	if (uid < 0) {
		answer = orr_dyn_words_of("leave", NULL);
		c->role = STRANGER;
	} else {
		run.arrived |= c->role == PROCESS;
		answer = orr_dyn_words_of("ok", NULL);
		orr_dyn_words_number(&answer, uid);
		c->uid = c->role == EARLY ? -1 : uid;
	}
	orr_dyn_wire_send(c->fd, 0, &answer);
	orr_dyn_words_free(&answer);
}

static void serve(int at)
{
	struct orr_dyn_words words = { 0 };
	unsigned theirs;
	if (orr_dyn_wire_receive(run.conns[at].fd, &theirs, &words)) {
		conn_end(at);
		return;
	}
	if (run.conns[at].uid < 0) {
		greet(at, &words);
	} else if (orr_dyn_word_is(&words, 0, "bye")) {
		run.conns[at].said_bye = 1;
		run.conns[at].status = (int) orr_dyn_number(&words, 1) & 255;
	} else {
		unsigned ticket = ticket_new(at, theirs);
		orr_dyn_request(run.registry, run.conns[at].uid, ticket, &words);
	}
	orr_dyn_words_free(&words);
}

/* ---- the resource manager ---- */

/* The host has failed, and its processes are gone. Nobody else may learn of that, because a host
 * that fails closes no connection. Those that are on this machine, in a rehearsal, are killed. */
static int fail_host(const char *name)
{
	int n = 0;
	for (int i = 0; i < run.nconns; i++) {
		struct conn *c = &run.conns[i];
		if (c->fd < 0 || !c->host || !orr_dyn_same_host(c->host, name))
			continue;
		n += c->role == PROCESS;
		if ((c->role == PROCESS || c->role == EARLY) && c->pid > 1)
			kill(c->pid, SIGKILL);
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
		if (orr_dyn_script_add(&run.script, c->line, run.next_event))
			answer =
				"error known are grow N, shrink N, pool N, leave HOST and fail HOST, and `at SECONDS` before them\n";
	} else if (obey(&words)) {
		answer = "error refused\n";
	}
	if (send(c->fd, answer, strlen(answer), MSG_NOSIGNAL) < 0)
		c->length = 0;
	orr_dyn_words_free(&words);
}

static void serve_manager(int at)
{
	struct conn *c = &run.conns[at];
	ssize_t n = read(c->fd, c->line + c->length, sizeof(c->line) - 1 - c->length);
	char *end;
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
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	if (!strncmp(manager, "script:", 7)) {
		const char *why = orr_dyn_script_read(&run.script, manager + 7);
		if (why)
			die("%s", why);
	} else if (!strncmp(manager, "unix:", 5)) {
		if (strlen(manager + 5) >= sizeof(address.sun_path))
			die("--manager %s: the path is too long for a socket", manager);
		strcpy(address.sun_path, manager + 5);
		run.manager_door = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (bind(run.manager_door, (struct sockaddr *) &address, sizeof(address)) ||
		    listen(run.manager_door, 8))
			die("--manager %s: %s", manager, strerror(errno));
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
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t length = sizeof(address);
	unsigned char random[16];
	char host[256] = "localhost", text[512];
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		die("there are no random numbers: %s", strerror(errno));
	for (int i = 0; i < 16; i++)
		snprintf(run.key + 2 * i, 3, "%02x", random[i]);
	int here = !getenv("ORRERY_DYN_HOSTS");
	address.sin_addr.s_addr = htonl(here ? INADDR_LOOPBACK : INADDR_ANY);
	run.door = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (run.door < 0 || bind(run.door, (struct sockaddr *) &address, sizeof(address)) ||
	    listen(run.door, 512) || getsockname(run.door, (struct sockaddr *) &address, &length))
		die("cannot listen for the processes: %s", strerror(errno));
	if (!here)
		gethostname(host, sizeof(host) - 1);
	snprintf(text, sizeof(text), "%s:%d:%s", here ? "127.0.0.1" : host, ntohs(address.sin_port),
		 run.key);
	setenv("ORRERY_DYN_SERVER", text, 1);
}

static void start_child(char **command)
{
	const struct sigaction action = { .sa_handler = on_signal };
	run.child = fork();
	if (run.child < 0)
		die("cannot start a process: %s", strerror(errno));
	if (!run.child) {
		execvp(command[0], command);
		fprintf(stderr, "orrery run: %s: %s\n", command[0], strerror(errno));
		_exit(127);
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static void enter(int door, enum role role)
{
	int fd = accept4(door, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0)
		conn_new(fd, role);
}

/* Waits until somebody wants something, or a moment, and serves all. */
static void serve_all(void)
{
	int n = run.nconns;
	struct pollfd *fds = orr_dyn_memory(NULL, (size_t) (n + 2) * sizeof(*fds));
	for (int i = 0; i < n; i++)
		fds[i] = (struct pollfd){ .fd = run.conns[i].fd, .events = POLLIN };
	fds[n] = (struct pollfd){ .fd = run.door, .events = POLLIN };
	fds[n + 1] = (struct pollfd){ .fd = run.manager_door, .events = POLLIN };
	if (poll(fds, (nfds_t) n + 2, 50) > 0) {
		for (int i = 0; i < n; i++) {
			if (!fds[i].revents || run.conns[i].fd < 0)
				continue;
			if (run.conns[i].role == MANAGER)
				serve_manager(i);
			else
				serve(i);
		}
		if (fds[n].revents)
			enter(run.door, STRANGER);
		if (fds[n + 1].revents)
			enter(run.manager_door, MANAGER);
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
	start_child(argv + 4);
	int status = loop();
	if (run.manager_path)
		unlink(run.manager_path);
	orr_dyn_script_free(&run.script);
	orr_dyn_registry_free(run.registry);
	return judge(status);
}
