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
 * Open MPI's mpirun takes a second order to end within five seconds for one to leave at once: it
 * leaves its processes behind, or stays for ever (tools/orrery_child.py). So it has a process group
 * of its own, but where it may read the terminal; it is told once, and killed if it stays.
 *
 * Invariant: one thread, one loop; it waits only where it polls (elastic_peers.c). */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "dyn/signature.h"
#include "elastic_door.h"
#include "elastic_manager.h"
#include "elastic_peers.h"

#define TWICE_S 6 /* after so long the command may be told again */
#define LAST_S 60 /* and after so long it is killed */

static struct {
	struct orr_peers peers;
	struct rlimit files; /* of the command */
	const char *manager_path;
	pid_t child;
	int apart;                      /* it has a process group of its own */
	double told_s, end_s;           /* when it was told to end last, and first; 0: it was not */
	double patience_s, expecting_s; /* for processes that start; since when, 0: none do */
} run = { .peers = { .door = -1, .manager_door = -1 } };

static volatile sig_atomic_t signalled, from_terminal;

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

/* ---- what the registry and its peers ask for ---- */

static double since_start_s(void *arg)
{
	const struct orr_peers *p = arg;
	return orr_peers_now_s() - p->start_s;
}

static void say(void *arg, const char *line)
{
	(void) arg;
	fprintf(stderr, "orrery run: %s\n", line);
}

static void end_process(pid_t pid)
{
	kill(pid, SIGKILL);
}

/* ---- start, loop, end ---- */

static void open_manager(const char *manager)
{
	static char why[512];
	if (!strncmp(manager, "script:", 7)) {
		const char *wrong = orr_dyn_script_read(&run.peers.script, manager + 7);
		if (wrong)
			die("%s", wrong);
	} else if (!strncmp(manager, "unix:", 5)) {
		run.peers.manager_door = orr_door_manager(manager + 5, why, sizeof(why));
		if (run.peers.manager_door < 0)
			die("%s", why);
		run.manager_path = manager + 5;
	} else if (strcmp(manager, "-")) {
		die("--manager %s: give script:FILE or unix:PATH", manager);
	}
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	(void) context;
	from_terminal = info->si_code == SI_KERNEL;
	signalled = sig;
}

/* Tells the command to end. */
static void end_child(int sig)
{
	double now = orr_peers_now_s();

	if (run.told_s > 0 && now - run.told_s < TWICE_S)
		return;
	run.told_s = now;
	if (run.end_s <= 0)
		run.end_s = now;
	/* The terminal has told its whole group. */
	if (run.apart || !from_terminal)
		kill(run.child, sig);
}

static void kill_hung(void)
{
	if (run.end_s <= 0 || orr_peers_now_s() - run.end_s < LAST_S)
		return;
	fprintf(stderr,
		"orrery run: mpirun has not ended %d s after it was told to; it is killed\n",
		LAST_S);
	kill(run.child, SIGKILL);
	run.end_s = 0;
}

/* Opens the door for processes, here and on other hosts, and tells them where it is. */
static void open_door(void)
{
	char where[384], text[512];
	int is_signed;
	if (orr_door_key(run.peers.key))
		die("there are no random numbers: %s", strerror(errno));
	run.peers.door = orr_door_processes(getenv("ORRERY_DYN_HOSTS"), run.peers.key, where,
					    sizeof(where), &is_signed);
	if (run.peers.door < 0)
		die("%s", where);
	snprintf(text, sizeof(text), "%s:%s%s", where, run.peers.key,
		 is_signed ? ORR_DYN_SIGNED : "");
	setenv("ORRERY_DYN_SERVER", text, 1);
	unsetenv("ORRERY_DYN_HOSTS");
}

/* The room of the first hosts, HOST:N,HOST:N...: processes may ask for more before their
 * resource manager has said a word. */
static void take_rooms(void)
{
	const char *rooms = getenv("ORRERY_DYN_ROOMS");
	char *rest = rooms ? strdup(rooms) : NULL, *next = rest, *word;
	if (rooms && !rest)
		die("out of memory");
	while ((word = strsep(&next, ","))) {
		char *colon = strrchr(word, ':'), *end = NULL;
		long room = colon ? strtol(colon + 1, &end, 10) : 0;
		if (colon)
			*colon = 0;
		if (!colon || end == colon + 1 || *end || room < 1 || room > ORR_DYN_MOST_PROCS ||
		    orr_dyn_room(run.peers.registry, word, (int) room))
			die("ORRERY_DYN_ROOMS=%s is not HOST:N,HOST:N...; `orrery run --manager slurm' sets it",
			    rooms);
	}
	free(rest);
	unsetenv("ORRERY_DYN_ROOMS");
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
	const struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
	run.apart = tcgetpgrp(STDIN_FILENO) != getpgrp();
	run.child = fork();
	if (run.child < 0)
		die("cannot start a process: %s", strerror(errno));
	if (!run.child) {
		if (run.apart)
			setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGTERM);
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

/* MPI_Comm_spawn() does not return when a program ends before it initialises MPI, and with it hangs
 * the process that called it. So the run ends. */
static void watch_starts(void)
{
	if (!orr_dyn_expecting(run.peers.registry))
		run.expecting_s = 0;
	else if (run.expecting_s <= 0)
		run.expecting_s = orr_peers_now_s();
	if (run.expecting_s <= 0 || orr_peers_now_s() - run.expecting_s < run.patience_s ||
	    run.peers.status)
		return;
	fprintf(stderr,
		"orrery run: new processes did not call MPI_Session_init() within %g s; ending the run ($ORRERY_DYN_PATIENCE sets the time)\n",
		run.patience_s);
	run.peers.status = 1;
	end_child(SIGTERM);
}

/* Serves requests until the command has ended. Returns its status. */
static int loop(void)
{
	int status;
	while (waitpid(run.child, &status, WNOHANG) == 0) {
		if (signalled) {
			end_child(signalled);
			signalled = from_terminal = 0;
		}
		kill_hung();
		orr_manager_follow(&run.peers);
		orr_peers_tidy(&run.peers);
		watch_starts();
		if (run.peers.stop || run.peers.finish == 1)
			end_child(SIGTERM);
		run.peers.stop = 0;
		run.peers.finish = run.peers.finish ? 2 : 0; /* once */
		orr_peers_serve_all(&run.peers);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The launcher reports no error of processes that do not initialise MPI: those of a program whose
 * library of process sets is missing, for instance. */
static int judge(int status)
{
	if (run.peers.finish)
		status = 0; /* of the launcher */
	if (run.peers.status || status || run.peers.arrived)
		return run.peers.status ? run.peers.status : status;
	fprintf(stderr,
		"orrery run: no process of the elastic run called MPI_Session_init(); build the program with `orrery cc --elastic`, link it with orrery-dyn, or leave --elastic out\n");
	return 1;
}

int main(int argc, char **argv)
{
	struct orr_peers *p = &run.peers;
	const struct orr_dyn_host host = {
		.reply = orr_peers_reply, .say = say, .now_s = since_start_s, .arg = p
	};
	if (argc < 5)
		die("usage: orrery-elastic N POOL MANAGER COMMAND...; `orrery run --elastic` is how it is started");
	const char *patience = getenv("ORRERY_DYN_PATIENCE");
	run.patience_s = patience && atof(patience) > 0 ? atof(patience) : 60;
	p->start_s = orr_peers_now_s();
	p->end_process = end_process;
	p->say = say;
	p->registry = orr_dyn_registry_new(&host, atoi(argv[1]), atoi(argv[2]));
	open_manager(argv[3]);
	take_rooms();
	open_door();
	raise_limit();
	start_child(argv + 4);
	int status = loop();
	orr_peers_close(p);
	if (run.manager_path)
		unlink(run.manager_path);
	orr_dyn_script_free(&p->script);
	orr_dyn_registry_free(p->registry);
	return judge(status);
}
