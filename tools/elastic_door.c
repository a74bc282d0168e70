/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sockets that the registry of an elastic run listens on.
 *
 * The address for processes on other hosts is the one from which this host reaches them: the system
 * says it for a datagram socket that is connected, without sending anything.
 *
 * Invariant: see elastic_door.h. */
#include "elastic_door.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "dyn/signature.h"

enum { SILENT_S = 10 };

int orr_door_key(char key[33])
{
	unsigned char random[16];
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return -1;
	for (int i = 0; i < 16; i++)
		snprintf(key + 2 * i, 3, "%02x", random[i]);
	return 0;
}

int orr_door_opens(const char key[33], const char *theirs)
{
	size_t length = strlen(theirs);
	unsigned different = length != 32;
	for (size_t i = 0; i < 32; i++)
		different |= (unsigned) (key[i] ^ (i < length ? theirs[i] : 0));
	return !different;
}

/* ---- processes ---- */

static int is_loopback(struct in_addr a)
{
	return ntohl(a.s_addr) >> 24 == 127;
}

static int resolve(const char *name, struct in_addr *address)
{
	struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_DGRAM }, *found;
	if (getaddrinfo(name, NULL, &hints, &found))
		return -1;
	*address = ((struct sockaddr_in *) (void *) found->ai_addr)->sin_addr;
	freeaddrinfo(found);
	return 0;
}

/* The address of this host from which that one is reached. 0 or -1. */
static int route_to(struct in_addr there, struct in_addr *mine)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons(9),
				       .sin_addr = there };
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), ret = -1;
	if (fd >= 0 && !connect(fd, (struct sockaddr *) &address, sizeof(address)) &&
	    !getsockname(fd, (struct sockaddr *) &address, &length)) {
		*mine = address.sin_addr;
		ret = 0;
	}
	if (fd >= 0)
		close(fd);
	return ret;
}

/* The one address from which all other hosts are reached; INADDR_LOOPBACK if there is no other one.
 * 0, or -1: a host is not known, or there is no such address. */
static int common_address(const char *hosts, struct in_addr *mine)
{
	char *copy = strdup(hosts), *rest = NULL;
	struct in_addr there, from;
	int known = 0, bad = !copy;
	for (char *name = copy ? strtok_r(copy, ",", &rest) : NULL; name && !bad;
	     name = strtok_r(NULL, ",", &rest)) {
		bad = resolve(name, &there) || route_to(there, &from) ||
		      (known && !is_loopback(*mine) && !is_loopback(from) &&
		       mine->s_addr != from.s_addr);
		/* this host reaches itself by whatever it is called by */
		if (!bad && (!known || is_loopback(*mine)))
			*mine = from;
		known = 1;
	}
	free(copy);
	return known && !bad ? 0 : -1;
}

/* The place to listen at, which the processes are told: an address, or a name that each host may
 * know under another one. */
static void choose(const char *hosts, struct in_addr *listen_at, char *name, size_t size)
{
	const char *given = getenv("ORRERY_DYN_ADDRESS");
	listen_at->s_addr = htonl(INADDR_LOOPBACK);
	if (given && *given && !resolve(given, listen_at)) {
		inet_ntop(AF_INET, listen_at, name, (socklen_t) size);
	} else if (!hosts || !common_address(hosts, listen_at)) {
		inet_ntop(AF_INET, listen_at, name, (socklen_t) size);
	} else {
		listen_at->s_addr = htonl(INADDR_ANY);
		if (gethostname(name, size - 1))
			snprintf(name, size, "localhost");
	}
}

/* True if connections to that socket have to be signed from now on. */
static int sign(int fd, const char *key)
{
	const char *wish = getenv("ORRERY_DYN_SIGNED");
	return (!wish || atoi(wish)) && !orr_dyn_sign(fd, (struct in_addr){ INADDR_ANY }, 0, key);
}

int orr_door_processes(const char *hosts, const char *key, char *text, size_t size, int *is_signed)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t length = sizeof(address);
	char name[256] = "";
	choose(hosts, &address.sin_addr, name, sizeof(name));
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* The system keeps those who say nothing. A process says who it is at once. */
	if (fd >= 0)
		setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &(int){ SILENT_S }, sizeof(int));
	*is_signed = fd >= 0 && sign(fd, key);
	if (fd < 0 || bind(fd, (struct sockaddr *) &address, sizeof(address)) || listen(fd, 512) ||
	    getsockname(fd, (struct sockaddr *) &address, &length)) {
		snprintf(
			text, size,
			"cannot listen for the processes at %s: %s ($ORRERY_DYN_ADDRESS names another address of this host)",
			name, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	snprintf(text, size, "%s:%d", name, ntohs(address.sin_port));
	return fd;
}

/* ---- the resource manager ---- */

/* Removes a socket of ours at which nobody listens. 0 or -1. */
static int remove_stale(const struct sockaddr_un *address)
{
	struct stat st;
	if (lstat(address->sun_path, &st) || !S_ISSOCK(st.st_mode) || st.st_uid != geteuid())
		return -1;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int stale = fd >= 0 && connect(fd, (const struct sockaddr *) address, sizeof(*address)) &&
		    errno == ECONNREFUSED;
	if (fd >= 0)
		close(fd);
	return stale ? unlink(address->sun_path) : -1;
}

/* Listens at a name beside that one, which nobody knows, with mode 0600. The descriptor, or -1. */
static int listen_beside(const char *path, struct sockaddr_un *address)
{
	if ((size_t) snprintf(address->sun_path, sizeof(address->sun_path), "%s.%ld", path,
			      (long) getpid()) >= sizeof(address->sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	unlink(address->sun_path);
	mode_t before = umask(0177);
	int bad = fd < 0 || bind(fd, (struct sockaddr *) address, sizeof(*address)) ||
		  listen(fd, 8);
	umask(before);
	if (!bad)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* The name appears when somebody listens there already, so that a socket that refuses is stale. */
int orr_door_manager(const char *path, char *why, size_t size)
{
	struct sockaddr_un here = { .sun_family = AF_UNIX }, beside = here;
	if (strlen(path) >= sizeof(here.sun_path) - 16) {
		snprintf(why, size, "--manager unix:%s: the path is too long for a socket", path);
		return -1;
	}
	strcpy(here.sun_path, path);
	int fd = listen_beside(path, &beside);
	int bad = fd < 0 || link(beside.sun_path, path), error = errno;
	if (bad && fd >= 0 && error == EEXIST && !remove_stale(&here)) {
		bad = link(beside.sun_path, path);
		error = errno;
	}
	if (fd >= 0)
		unlink(beside.sun_path);
	if (!bad)
		return fd;
	snprintf(why, size, "--manager unix:%s: %s%s", path, strerror(error),
		 error == EEXIST ? "; another run listens there, or it is no socket of yours" : "");
	if (fd >= 0)
		close(fd);
	return -1;
}

int orr_door_is_ours(int fd)
{
	struct ucred peer;
	socklen_t length = sizeof(peer);
	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) &&
	       (peer.uid == geteuid() || peer.uid == 0);
}
