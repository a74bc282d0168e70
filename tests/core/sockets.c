/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A thread that receives from a socket waits until another one of the program has sent, made room
 * for more, or closed its end; a child of the program reads and sleeps in real time.
 *
 * A simulated run takes the time that pen and paper gives.
 *
 * Invariant: each check holds in both worlds. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <starpu.h>
#include <orrery.h>
#include "lib/test.h"

#define LONG ((size_t) 4 << 20)
#define STEP_US 100000 /* the system rounds limits up to ticks of 1 to 10 ms */
#define PAUSE_US 1000

static int ends[2];
static double start_s;

static double now_s(void)
{
	struct timespec t;
	OK(clock_gettime(CLOCK_MONOTONIC, &t));
	return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

static void begin(void)
{
	start_s = now_s();
}

/* So much time has passed since then; real time may be longer. */
static void passed(const char *what, double s)
{
	double got = now_s() - start_s;
	CHECK(got > s - 1e-3 && (!orrery_is_simulated() || got < s + 1e-4), "%s: %.6f s, not %g",
	      what, got, s);
}

/* ---- pairs ---- */

static void local(void)
{
	OK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
}

static void local_messages(void)
{
	OK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends));
}

static struct sockaddr_in server;

static void *connects(void *arg)
{
	usleep(STEP_US);
	ends[0] = socket(AF_INET, SOCK_STREAM, 0);
	OK(connect(ends[0], (struct sockaddr *) &server, sizeof(server)));
	return arg;
}

/* Returns whether there is such a network. */
static int internet(void)
{
	pthread_t thread;
	socklen_t n = sizeof(server);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	server = (struct sockaddr_in){ .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	if (listener < 0 || bind(listener, (struct sockaddr *) &server, n))
		return 0;
	OK(listen(listener, 1));
	OK(getsockname(listener, (struct sockaddr *) &server, &n));
	begin();
	OK(pthread_create(&thread, NULL, connects, NULL));
	struct pollfd p = { listener, POLLIN, 0 };
	CHECK_IS(poll(&p, 1, -1), 1);
	passed("poll for a connection", STEP_US * 1e-6);
	ends[1] = accept(listener, NULL, NULL);
	CHECK(ends[1] >= 0, "no connection");
	OK(pthread_join(thread, NULL));
	OK(close(listener));
	return 1;
}

/* ---- what another thread does ---- */

/* By write(), send(), sendmsg() and close(), a step apart. */
static void *sends(void *arg)
{
	struct iovec part = { "ef", 2 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	usleep(STEP_US);
	CHECK_IS(write(ends[1], "ab", 2), 2);
	usleep(STEP_US);
	CHECK_IS(send(ends[1], "cd", 2, 0), 2);
	usleep(STEP_US);
	CHECK_IS(sendmsg(ends[1], &message, 0), 2);
	usleep(STEP_US);
	OK(close(ends[1]));
	return arg;
}

static void *receives_all(void *arg)
{
	static char part[1 << 16];
	size_t got = 0;
	usleep(STEP_US);
	for (ssize_t n; (n = recv(ends[0], part, sizeof(part), 0)) > 0; got += (size_t) n)
		usleep(PAUSE_US);
	*(size_t *) arg = got;
	return NULL;
}

/* ---- checks ---- */

static void by_turns(void)
{
	pthread_t thread;
	char c[8] = "";
	struct iovec room = { c, sizeof(c) };
	struct msghdr message = { .msg_iov = &room, .msg_iovlen = 1 };
	begin();
	OK(pthread_create(&thread, NULL, sends, NULL));
	CHECK_IS(recv(ends[0], c, sizeof(c), MSG_DONTWAIT), -1);
	CHECK_IS(errno, EAGAIN);
	CHECK_IS(read(ends[0], c, sizeof(c)), 2);
	passed("read", STEP_US * 1e-6);
	CHECK_IS(recv(ends[0], c, sizeof(c), 0), 2);
	CHECK(!memcmp(c, "cd", 2), "it got %.2s", c);
	passed("recv", 2 * STEP_US * 1e-6);
	CHECK_IS(recvmsg(ends[0], &message, 0), 2);
	CHECK(!memcmp(c, "ef", 2), "it got %.2s", c);
	passed("recvmsg", 3 * STEP_US * 1e-6);
	CHECK_IS(recv(ends[0], c, sizeof(c), 0), 0);
	passed("the end", 4 * STEP_US * 1e-6);
	OK(pthread_join(thread, NULL));
	OK(close(ends[0]));
}

static void all_of_it(void)
{
	pthread_t thread;
	struct timeval limit = { 0, STEP_US }, none = { 0, 0 };
	char c[6];
	OK(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)));
	begin();
	CHECK_IS(recv(ends[0], c, 1, 0), -1);
	CHECK_IS(errno, EAGAIN);
	passed("a limit", STEP_US * 1e-6);
	OK(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &none, sizeof(none)));
	begin();
	OK(pthread_create(&thread, NULL, sends, NULL));
	CHECK_IS(recv(ends[0], c, sizeof(c), MSG_WAITALL), sizeof(c));
	CHECK(!memcmp(c, "abcdef", sizeof(c)), "it got %.6s", c);
	passed("MSG_WAITALL", 3 * STEP_US * 1e-6);
	OK(pthread_join(thread, NULL));
	OK(close(ends[0]));
}

/* More than there is room for. */
static void long_ones(void)
{
	static char bytes[LONG];
	pthread_t thread;
	size_t got = 0;
	begin();
	OK(pthread_create(&thread, NULL, receives_all, &got));
	CHECK_IS(send(ends[1], bytes, LONG, 0), LONG);
	CHECK(now_s() - start_s > STEP_US * 1e-6, "there was room for all");
	CHECK_IS(write(ends[1], bytes, LONG), LONG);
	OK(shutdown(ends[1], SHUT_WR));
	OK(pthread_join(thread, NULL));
	CHECK_IS(got, 2 * LONG);
	OK(close(ends[0]));
	OK(close(ends[1]));
}

static void *empties(void *arg)
{
	static char bytes[1 << 20];
	usleep(STEP_US);
	CHECK(read(ends[0], bytes, sizeof(bytes)) > 0, "the pipe was empty");
	return arg;
}

/* A pipe that is full, until another thread reads it. */
static void full_pipe(void)
{
	static const char bytes[4096];
	pthread_t thread;
	OK(pipe(ends));
	struct pollfd p = { ends[1], POLLOUT, 0 };
	while (poll(&p, 1, 0) == 1)
		CHECK_IS(write(ends[1], bytes, sizeof(bytes)), sizeof(bytes));
	begin();
	OK(pthread_create(&thread, NULL, empties, NULL));
	CHECK_IS(poll(&p, 1, -1), 1);
	passed("poll of a full pipe", STEP_US * 1e-6);
	OK(pthread_join(thread, NULL));
	OK(close(ends[0]));
	OK(close(ends[1]));
}

/* The child waits for what its parent sends after a sleep. */
static void children(void)
{
	int pair[2], back[2], status;
	char c;
	OK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	OK(pipe(back));
	pid_t child = fork();
	if (!child) {
		usleep(1000);
		if (read(pair[1], &c, 1) != 1 || write(pair[1], "y", 1) != 1)
			_exit(1);
		_exit(read(back[0], &c, 1) == 1 && c == 'z' ? 0 : 2);
	}
	CHECK(child > 0, "no child");
	usleep(STEP_US);
	CHECK_IS(send(pair[0], "x", 1, 0), 1);
	CHECK_IS(recv(pair[0], &c, 1, 0), 1);
	CHECK_IS(c, 'y');
	CHECK_IS(write(back[1], "z", 1), 1);
	CHECK_IS(waitpid(child, &status, 0), child);
	CHECK_IS(status, 0);
	for (int i = 0; i < 2; i++) {
		OK(close(pair[i]));
		OK(close(back[i]));
	}
}

int main(void)
{
	local();
	by_turns();
	local();
	all_of_it();
	local();
	long_ones();
	local_messages();
	by_turns();
	if (internet()) {
		by_turns();
		internet();
		all_of_it();
		internet();
		long_ones();
	}
	full_pipe();
	children();
	return 0;
}
