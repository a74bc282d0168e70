/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Answers of a run that is under way (see live.h).
 *
 * Invariant: as stated there; calls of the system go around what simulations redirect. */
#include "base/live.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/about.h"
#include "base/numbers.h"
#include "base/upcalls.h"

#define LIMIT_MS 500
#define BACKLOG 8

int orr_live_listen(int blocks)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int type = SOCK_STREAM | SOCK_CLOEXEC | (blocks ? 0 : SOCK_NONBLOCK);
	uint64_t number;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		return -EAGAIN;
	int n = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "orrery-top/%lu/%ld/%016llx",
			 (unsigned long) geteuid(), (long) syscall(SYS_getpid),
			 (unsigned long long) number);
	int fd = socket(AF_UNIX, type, 0);
	if (fd < 0)
		return -errno;
	socklen_t size = (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 + (size_t) n);
	if (!bind(fd, (struct sockaddr *) &name, size) && !listen(fd, BACKLOG))
		return fd;
	int err = errno;
	close(fd);
	return -err;
}

static int may_ask(int fd)
{
	struct ucred who;
	socklen_t size = sizeof(who);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) &&
	       (who.uid == geteuid() || who.uid == 0);
}

/* The number in the line that comes; ORR_LIVE_NOBODY: none comes. */
static int read_question(int fd)
{
	char text[32], *end;
	size_t n = 0;

	while (n < sizeof(text) - 1) {
		ssize_t got = recv(fd, text + n, sizeof(text) - 1 - n, 0);

		if (got <= 0)
			return ORR_LIVE_NOBODY;
		n += (size_t) got;
		text[n] = '\0';
		if (strchr(text, '\n'))
			break;
	}
	long number = strtol(text, &end, 10);
	return end != text && *end == '\n' && number >= ORR_LIVE_ALL && number < INT32_MAX
		       ? (int) number
		       : ORR_LIVE_NOBODY;
}

int orr_live_accept(int listening, int *question, int *ended)
{
	struct timeval limit = { .tv_usec = 1000L * LIMIT_MS };
	int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);

	*ended = fd < 0 && errno == EINVAL;
	if (fd < 0)
		return -1;
	*question = ORR_LIVE_NOBODY;
	if (may_ask(fd) && !setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) &&
	    !setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)))
		*question = read_question(fd);
	if (*question != ORR_LIVE_NOBODY)
		return fd;
	close(fd);
	return -1;
}

void orr_live_answer(int connection, const char *text, size_t size)
{
	while (size) {
		ssize_t n = send(connection, text, size, MSG_NOSIGNAL);

		if (n <= 0)
			break;
		text += n;
		size -= (size_t) n;
	}
	close(connection);
}

/* ---- what is told ---- */

int orr_live_describe(struct orr_live_about *a, struct orr_process *proc)
{
	char about[ORR_ABOUT_SIZE], key[256];
	size_t size;

	a->text = NULL;
	FILE *f = open_memstream(&a->text, &size);
	if (!f)
		return -ENOMEM;
	orr_sys_run_name(proc, key, sizeof(key));
	orr_sys_run_describe(proc, about, sizeof(about));
	fprintf(f, "\"orrery_top\": 1, \"pid\": %ld, \"key\": ", (long) syscall(SYS_getpid));
	orr_about_string(f, key);
	orr_about_members(f, about);
	return fclose(f) ? -ENOMEM : 0;
}

void orr_live_begin(FILE *f, const struct orr_live_about *a, double wall_s, const char *more)
{
	ORR_PLAIN_NUMBERS;

	fprintf(f, "{%s, \"wall_s\": %.6f%s, \"ranks\": [", a->text, wall_s, more);
}

void orr_live_end(FILE *f)
{
	fputs("]}\n", f);
}

void orr_live_rank(FILE *f, struct orr_process *proc, int layer, int all)
{
	ORR_PLAIN_NUMBERS;

	fprintf(f, "{\"rank\": %d, \"size\": %d, \"state\": \"running\"", proc->mpi_rank,
		proc->mpi_size);
	proc->core_up->tell(proc, f, all);
	if (layer && proc->mpi_up)
		proc->mpi_up->tell(proc, f, all);
}
