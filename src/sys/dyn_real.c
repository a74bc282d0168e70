/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elastic runs of the real world: the way to the registry, which is a process of its own
 * (tools/elastic.c), and the start of processes by MPI_Comm_spawn().
 *
 * $ORRERY_DYN_SERVER is ADDRESS:PORT:KEY, and ":signed" after it where the system drops what is not
 * signed with the key. Each request has a ticket; a thread that finds the
 * connection in use opens one of its own for the call, so that a call that waits holds up nobody.
 *
 * Invariant: the connection of a process stays open until the process ends; the registry takes its
 * end for the end of the process. */
#include "dyn_real.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/assert.h"
#include "base/seam_dyn.h"
#include "dyn/signature.h"
#include "dyn_wire.h"

static struct {
	void *client;
	int fd, uid;
	unsigned ticket;
	pthread_mutex_t lock; /* of fd and ticket */
} self = { .fd = -1, .uid = -1, .lock = PTHREAD_MUTEX_INITIALIZER };

void **orr_sys_dyn_slot(void)
{
	return &self.client;
}

int orr_dyn_uid(void)
{
	return self.uid;
}

int orr_sys_dyn_on(void)
{
	return orr_dyn_elastic();
}

int orr_dyn_elastic(void)
{
	return orr_dyn_registry() != NULL;
}

void orr_sys_dyn_error(const char *fmt, ...)
{
	char line[2048];
	va_list list;
	va_start(list, fmt);
	vsnprintf(line, sizeof(line), fmt, list);
	va_end(list);
	fflush(stdout);
	fprintf(stderr, "[orrery] error: %s\n", line);
}

/* ---- the connection ---- */

/* The parts of $ORRERY_DYN_SERVER. */
struct server {
	char text[512], *address, *port, *key;
	int is_signed;
};

/* Cuts off the last part, and returns it; NULL: there is none. */
static char *cut(char *text)
{
	char *colon = strrchr(text, ':');
	if (!colon)
		return NULL;
	*colon = 0;
	return colon + 1;
}

/* 0, or -1: a part is missing. */
static int split_server(struct server *s)
{
	const char *server = orr_dyn_registry(), *mark;
	snprintf(s->text, sizeof(s->text), "%s", server ? server : "");
	s->is_signed = (mark = strrchr(s->text, ':')) && !strcmp(mark, ORR_DYN_SIGNED);
	if (s->is_signed)
		cut(s->text);
	s->key = cut(s->text);
	s->port = s->key ? cut(s->text) : NULL;
	s->address = s->text;
	return s->port ? 0 : -1;
}

/* The number of tries of a connection that nobody answers: 1 + 2 + 4 + 8 + 16 s. A registry that is
 * gone cannot refuse a signed one. */
enum { SYNS = 4 };

static int sign(int fd, const struct addrinfo *there, const struct server *s)
{
	struct sockaddr_in address;
	memcpy(&address, there->ai_addr, sizeof(address));
	setsockopt(fd, IPPROTO_TCP, TCP_SYNCNT, &(int){ SYNS }, sizeof(int));
	return orr_dyn_sign(fd, address.sin_addr, 32, s->key);
}

static int dial(const struct server *s)
{
	struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;
	int fd = -1;
	if (getaddrinfo(s->address, s->port, &hints, &found))
		return -1;
	for (struct addrinfo *a = found; a && fd < 0; a = a->ai_next) {
		fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
		if (fd >= 0 &&
		    ((s->is_signed && sign(fd, a, s)) || connect(fd, a->ai_addr, a->ai_addrlen))) {
			close(fd);
			fd = -1;
		}
	}
	freeaddrinfo(found);
	return fd;
}

/* The number of the start that this process is of; the first ones have none. */
#define START "ORRERY_DYN_START"
/* The name that the resource manager has for this host, if it is another than the system's. */
#define HOST "ORRERY_DYN_HOST"

/* The words that say who this is (introduce()). */
static struct orr_dyn_words hello_of(const char *key, const char *as, int number)
{
	char host[256] = "";
	if (getenv(HOST))
		snprintf(host, sizeof(host), "%s", getenv(HOST));
	else
		gethostname(host, sizeof(host) - 1);
	struct orr_dyn_words hello = orr_dyn_words_of("hello", key, as, NULL);
	orr_dyn_words_number(&hello, number);
	orr_dyn_words_add(&hello, host);
	orr_dyn_words_number(&hello, getpid());
	orr_dyn_words_number(&hello, getenv(START) ? strtol(getenv(START), NULL, 10) : 0);
	return hello;
}

/* The number of tries of a new connection that the registry closes: it does so when strangers crowd
 * at its door and this process came late with its key. */
enum { TRIES = 20 };

/* Says who this is: `as` is "early", "process" or "thread", number its place or its uid. fd -1: on
 * a new connection. Returns the connection, or -1. */
static int introduce(int fd, const char *as, int number, struct orr_dyn_words *answer)
{
	struct server server;
	unsigned ticket;
	if (split_server(&server))
		return -1;
	struct orr_dyn_words hello = hello_of(server.key, as, number);
	for (int tries = fd < 0 ? TRIES : 1; tries; tries--) {
		if (fd < 0)
			fd = dial(&server);
		if (fd < 0)
			break;
		if (!orr_dyn_wire_send(fd, 0, &hello) && !orr_dyn_wire_receive(fd, &ticket, answer))
			break;
		close(fd);
		fd = -1;
		usleep(20000);
	}
	orr_dyn_words_free(&hello);
	return fd;
}

/* The reason why the registry does not answer. The key is not for people's eyes. */
static void tell_silence(void)
{
	struct server s;
	split_server(&s);
	orr_sys_dyn_error(
		"MPI_Session_init: the registry of the run does not answer at %s%s%s%s", s.address,
		s.port ? ":" : "", s.port ? s.port : "",
		s.is_signed
			? "; connections to it are signed (RFC 2385): if this host's system cannot do that, or something in the network drops them, start the run with ORRERY_DYN_SIGNED=0"
			: "");
}

static void __attribute__((noreturn)) lose_registry(void)
{
	fflush(stdout);
	fprintf(stderr,
		"[orrery] error: the run has ended, and with it the registry of its process sets\n");
	_exit(1);
}

static void exchange(int fd, unsigned ticket, const struct orr_dyn_words *request,
		     struct orr_dyn_words *answer)
{
	unsigned got = ticket;
	if (orr_dyn_wire_send(fd, ticket, request))
		lose_registry();
	do {
		orr_dyn_words_free(answer);
		if (orr_dyn_wire_receive(fd, &got, answer))
			lose_registry();
	} while (got != ticket);
}

void orr_sys_dyn_call(const struct orr_dyn_words *request, struct orr_dyn_words *answer)
{
	struct orr_dyn_words hello = { 0 };
	if (!pthread_mutex_trylock(&self.lock)) {
		exchange(self.fd, ++self.ticket, request, answer);
		pthread_mutex_unlock(&self.lock);
		return;
	}
	int fd = introduce(-1, "thread", self.uid, &hello);
	if (fd < 0)
		lose_registry();
	orr_dyn_words_free(&hello);
	exchange(fd, 1, request, answer);
	close(fd);
}

static void bye(int status)
{
	struct orr_dyn_words words = orr_dyn_words_of("bye", NULL);
	orr_dyn_words_number(&words, status);
	orr_dyn_wire_send(self.fd, 0, &words);
	orr_dyn_words_free(&words);
}

/* ---- start and end ---- */

/* Nobody needs the way to the process that started this one. MPI_Comm_disconnect() would wait. */
static void forget_parent(void)
{
	MPI_Comm parent;
	PMPI_Comm_get_parent(&parent);
	if (parent != MPI_COMM_NULL)
		PMPI_Comm_free(&parent);
}

/* Before main(), so that the registry learns when a process ends before it begins a session. */
static void __attribute__((constructor)) connect_early(void)
{
	struct orr_dyn_words answer = { 0 };
	if (orr_dyn_elastic())
		self.fd = introduce(-1, "early", 0, &answer);
	orr_dyn_words_free(&answer);
}

int orr_sys_dyn_enter(void)
{
	int up, rank, level;
	struct orr_dyn_words answer = { 0 };
	if (!orr_dyn_elastic()) {
		orr_sys_dyn_error(
			"MPI_Session_init: the program does not run elastically; start it with `orrery run --elastic`");
		return -1;
	}
	PMPI_Initialized(&up);
	if (!up)
		PMPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	forget_parent();
	self.fd = introduce(self.fd, "process", rank, &answer);
	if (self.fd < 0) {
		tell_silence();
		return -1;
	}
	if (!orr_dyn_word_is(&answer, 0, "ok"))
		orr_sys_dyn_leave();
	self.uid = (int) orr_dyn_number(&answer, 1);
	orr_dyn_words_free(&answer);
	orr_dyn_end_watch(bye);
	return 0;
}

void orr_sys_dyn_leave(void)
{
	exit(0);
}

/* ---- starting others ---- */

/* The words of /proc/self/cmdline. */
static struct orr_dyn_words command_line(void)
{
	char text[32768];
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	return orr_dyn_words_unpack(text, (size_t) (n > 0 ? n : 0));
}

/* Words for env(1), which sets the number of the start and becomes this program. MPI_Comm_spawn()
 * has no way of its own to tell the new processes something before they call MPI_Init(). */
static struct orr_dyn_words words_for_env(int start)
{
	char program[PATH_MAX], variable[64];
	struct orr_dyn_words mine = command_line(), words;
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	program[length > 0 ? length : 0] = 0;
	snprintf(variable, sizeof(variable), START "=%d", start);
	words = orr_dyn_words_of(variable, program, NULL);
	orr_dyn_words_copy(&words, &mine, 1);
	orr_dyn_words_free(&mine);
	orr_dyn_words_add(&words, "");
	free(words.w[words.n - 1]);
	words.w[--words.n] = NULL; /* as MPI wants it */
	return words;
}

int orr_sys_dyn_spawn(int n, int start, const char *hosts)
{
	char folder[PATH_MAX];
	struct orr_dyn_words words = words_for_env(start);
	if (strchr(words.w[1], '=')) {
		orr_sys_dyn_error("%s cannot be started by env(1): its path has a \"=\"; rename it",
				  words.w[1]);
		orr_dyn_words_free(&words);
		return -1;
	}
	MPI_Info info;
	MPI_Errhandler before;
	MPI_Comm children = MPI_COMM_NULL;
	PMPI_Info_create(&info);
	if (getcwd(folder, sizeof(folder)))
		PMPI_Info_set(info, "wdir", folder);
	if (hosts) {
		/* keys of Open MPI: hosts that mpirun may not know yet, and those to use */
		PMPI_Info_set(info, "add-host", hosts);
		PMPI_Info_set(info, "host", hosts);
	}
	PMPI_Comm_get_errhandler(MPI_COMM_SELF, &before);
	PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	int ret = PMPI_Comm_spawn("/usr/bin/env", words.w, n, info, 0, MPI_COMM_SELF, &children,
				  MPI_ERRCODES_IGNORE);
	PMPI_Comm_set_errhandler(MPI_COMM_SELF, before);
	PMPI_Errhandler_free(&before);
	PMPI_Info_free(&info);
	if (!ret && children != MPI_COMM_NULL)
		PMPI_Comm_free(&children);
	orr_dyn_words_free(&words);
	if (ret)
		orr_sys_dyn_error("MPI_Comm_spawn() of %d processes failed with code %d", n, ret);
	return ret ? -1 : 0;
}

/* ---- threads ---- */

struct thread_call {
	void (*f)(void *);
	void *arg;
};

static void *thread_main(void *arg)
{
	struct thread_call call = *(struct thread_call *) arg;
	free(arg);
	call.f(call.arg);
	return NULL;
}

int orr_sys_dyn_thread(void (*f)(void *), void *arg)
{
	int level;
	pthread_t thread;
	PMPI_Query_thread(&level);
	struct thread_call *call = level == MPI_THREAD_MULTIPLE ? malloc(sizeof(*call)) : NULL;
	if (!call)
		return -1;
	*call = (struct thread_call){ f, arg };
	if (pthread_create(&thread, NULL, thread_main, call)) {
		free(call);
		return -1;
	}
	pthread_detach(thread);
	return 0;
}
