/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Connections of TCP between two hosts: whether there is a way, how long it is and how wide.
 *
 * One end sends a byte and waits for it to come back, some times; the shortest of them is twice the
 * latency. Then it sends as much as it can for a while, closes its side, and waits for one byte,
 * which says that all has arrived.
 *
 * Invariant: each wait has an end, given in milliseconds of the clock that nobody sets. */
#define _GNU_SOURCE
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "doctor_host.h"

enum { TURNS = 40, SEND_MS = 50, SERVE_MS = 30000, PIECE = 64 << 10 };

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

static int wait_for(int fd, short what, double until_s)
{
	struct pollfd p = { .fd = fd, .events = what };
	double left = (until_s - now_s()) * 1000;

	if (left < 0 || poll(&p, 1, (int) left + 1) <= 0) {
		errno = ETIMEDOUT;
		return -1;
	}
	return 0;
}

/* ---- the end that takes connections ---- */

static void serve(int fd)
{
	char block[PIECE];
	double until = now_s() + SERVE_MS * 1e-3;
	int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	for (;;) {
		if (wait_for(fd, POLLIN, until))
			break;
		ssize_t n = recv(fd, block, sizeof(block), 0);
		if (n < 0)
			break;
		if (n <= 1) { /* a turn, or the end of what was sent */
			char byte = 1;
			if (send(fd, &byte, 1, MSG_NOSIGNAL) != 1 || n == 0)
				break;
		}
	}
	close(fd);
}

static void *serve_all(void *arg)
{
	int listener = *(int *) arg;

	free(arg);
	for (;;) {
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			serve(fd);
		else if (errno != EINTR && errno != ECONNABORTED)
			return NULL;
	}
}

/* A socket that takes IPv6 and IPv4, or IPv4 alone where there is no IPv6. -1: the port is taken.
 */
static int listen_at(int port)
{
	int no = 0, yes = 1;
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons((uint16_t) port) };
	struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons((uint16_t) port) };
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const struct sockaddr *name = (const struct sockaddr *) &six;
	socklen_t size = sizeof(six);

	if (fd < 0) {
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		name = (const struct sockaddr *) &four;
		size = sizeof(four);
	} else {
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
	}
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(fd, name, size) || listen(fd, 128)) {
		close(fd);
		return -1;
	}
	return fd;
}

void doctor_listen(int first, int last)
{
	int fd = -1, *copy = malloc(sizeof(*copy));
	struct sockaddr_storage name;
	socklen_t size = sizeof(name);
	pthread_t thread;

	for (int port = first; port <= last && fd < 0; port++)
		fd = listen_at(port);
	if (fd < 0 || !copy || getsockname(fd, (struct sockaddr *) &name, &size)) {
		printf("refused %s\n", strerror(errno));
		free(copy);
		return;
	}
	*copy = fd;
	if (pthread_create(&thread, NULL, serve_all, copy)) {
		puts("refused no thread can be started");
		return;
	}
	pthread_detach(thread);
	printf("port %d\n",
	       ntohs(name.ss_family == AF_INET6 ? ((struct sockaddr_in6 *) &name)->sin6_port
						: ((struct sockaddr_in *) &name)->sin_port));
}

/* ---- the end that connects ---- */

static int connect_one(const struct addrinfo *a, double until_s)
{
	int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error = 0;
	socklen_t size = sizeof(error);

	if (fd < 0)
		return -1;
	if (connect(fd, a->ai_addr, a->ai_addrlen)) {
		if (errno == EINPROGRESS && !wait_for(fd, POLLOUT, until_s)) {
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
			errno = error;
		}
		if (errno) {
			error = errno;
			close(fd);
			errno = error;
			return -1;
		}
	}
	return fd;
}

/* Seconds of the shortest turn, or -1. */
static double shortest_turn(int fd, double until_s)
{
	double best = -1;
	char byte = 0;

	for (int i = 0; i < TURNS && (i < 3 || now_s() < until_s - 1); i++) {
		double start = now_s();
		if (send(fd, &byte, 1, MSG_NOSIGNAL) != 1 || wait_for(fd, POLLIN, until_s) ||
		    recv(fd, &byte, 1, 0) != 1)
			return -1;
		double took = now_s() - start;
		best = best < 0 || took < best ? took : best;
	}
	return best;
}

/* Bytes a second, or -1. */
static double width(int fd, long long bytes, double until_s)
{
	static const char block[PIECE];
	double start = now_s();
	long long sent = 0;
	char byte;

	while (sent < bytes && now_s() < start + SEND_MS * 1e-3) {
		if (wait_for(fd, POLLOUT, until_s))
			return -1;
		/* Never one byte alone, which would be a turn. */
		ssize_t n = send(fd, block, sizeof(block), MSG_NOSIGNAL);
		if (n < 0 && errno != EAGAIN)
			return -1;
		sent += n > 0 ? n : 0;
	}
	shutdown(fd, SHUT_WR);
	for (;
	     ;) { /* a piece that came as a single byte was answered, too: the last answer counts */
		if (wait_for(fd, POLLIN, until_s))
			return -1;
		ssize_t n = recv(fd, &byte, 1, 0);
		if (n == 0)
			break;
		if (n < 0)
			return -1;
	}
	return (double) sent / (now_s() - start);
}

static void print_address(const struct addrinfo *a)
{
	char text[NI_MAXHOST];

	if (getnameinfo(a->ai_addr, a->ai_addrlen, text, sizeof(text), NULL, 0, NI_NUMERICHOST))
		snprintf(text, sizeof(text), "?");
	printf("%s", text);
}

void doctor_connect(const char *name, int port, int ms, long long bytes)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_family = AF_INET }, *all = NULL;
	double until = now_s() + ms * 1e-3, latency = 0, speed = 0;
	int one = 1, ret, fd = -1;
	char service[16];

	snprintf(service, sizeof(service), "%d", port);
	ret = getaddrinfo(name, service, &hints, &all);
	if (ret) {
		hints.ai_family = AF_UNSPEC; /* MPI uses IPv4 where a host has it */
		ret = getaddrinfo(name, service, &hints, &all);
	}
	if (ret) {
		printf("failed name %s\n", gai_strerror(ret));
		return;
	}
	fd = connect_one(all, until);
	if (fd >= 0 && bytes > 0) {
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		latency = shortest_turn(fd, until);
		speed = latency < 0 ? -1 : width(fd, bytes, until);
	}
	if (fd < 0 || latency < 0 || speed < 0) {
		printf("failed %s %s\n", fd < 0 ? "connect" : "data", strerror(errno));
	} else {
		fputs("connected ", stdout);
		print_address(all);
		printf(" %.2f %.0f\n", latency * 5e5, speed);
	}
	if (fd >= 0)
		close(fd);
	freeaddrinfo(all);
}
