/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sockets whose other end is in the same simulation: a receive that finds nothing, and a send that
 * finds no room, wait in virtual time, until another thread of the program sends, receives, or
 * closes. wrapped.flags leads the program's calls here.
 *
 * Connections to other processes, sockets without a connection, accept() and connect() wait in real
 * time, as nobody knows who is at the other end; so does a program that has children.
 *
 * Invariant: stated in timers.c. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include "calls.h"
#include "launcher.h"

int launcher_is_socket(int fd)
{
	struct stat st;
	return orr_sim_actor_self() && !fstat(fd, &st) && S_ISSOCK(st.st_mode);
}

/* True if a file of this process has that address. */
static int is_here(const struct sockaddr_storage *address, socklen_t size)
{
	DIR *files = opendir("/proc/self/fd");
	int found = 0;
	for (struct dirent *d; files && !found && (d = readdir(files));) {
		struct sockaddr_storage own;
		socklen_t n = sizeof(own);
		found = d->d_name[0] != '.' &&
			!getsockname(atoi(d->d_name), (struct sockaddr *) &own, &n) && n == size &&
			!memcmp(&own, address, size);
	}
	if (files)
		closedir(files);
	return found;
}

/* True if this process has the other end of the connection, too, and is no child. */
static int is_inside(int fd)
{
	struct sockaddr_storage peer;
	socklen_t n = sizeof(peer);
	struct ucred user;
	if (!orrery_sim_is_simulator() || launcher_has_children() ||
	    getpeername(fd, (struct sockaddr *) &peer, &n))
		return 0;
	if (peer.ss_family != AF_UNIX)
		return is_here(&peer, n);
	n = sizeof(user);
	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &user, &n) && user.pid == orr_sim.pid;
}

/* True if the call waits in virtual time, should it have to. */
static int may_wait(int fd, int flags)
{
	return orr_sim_actor_self() && !(flags & (MSG_DONTWAIT | MSG_ERRQUEUE)) &&
	       !(fcntl(fd, F_GETFL) & O_NONBLOCK);
}

/* A call has ended with ret, which was not to wait. Returns 1 if it is to be made again: *waits
 * becomes 0 if it may wait, in real time. Else 0. */
static int again(int fd, ssize_t ret, short events, int *waits)
{
	struct timeval t = { 0, 0 };
	socklen_t n = sizeof(t);
	if (ret >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK) || !*waits)
		return 0;
	if (!is_inside(fd)) {
		*waits = 0;
		return 1;
	}
	getsockopt(fd, SOL_SOCKET, events == POLLIN ? SO_RCVTIMEO : SO_SNDTIMEO, &t, &n);
	double us = (double) t.tv_sec * 1e6 + (double) t.tv_usec;
	int ready = launcher_wait_file(fd, events, us > 0 ? us : -1);
	if (!ready)
		errno = EAGAIN;
	return ready > 0;
}

/* Those who wait for something to receive, or for room, look again. */
static void changed(ssize_t ret)
{
	if (orr_sim_actor_self() && ret >= 0)
		launcher_timers_changed();
}

static int is_stream(int fd)
{
	int type = 0;
	socklen_t n = sizeof(type);
	return !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) && type == SOCK_STREAM;
}

#pragma GCC visibility push(default)

ssize_t __wrap_recvfrom(int fd, void *buffer, size_t size, int flags, struct sockaddr *from,
			socklen_t *length);
ssize_t __wrap_recvmsg(int fd, struct msghdr *message, int flags);
ssize_t __wrap_sendto(int fd, const void *buffer, size_t size, int flags, const struct sockaddr *to,
		      socklen_t length);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags);
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t length);
int __wrap_shutdown(int fd, int how);

ssize_t __wrap_recv(int fd, void *buffer, size_t size, int flags)
{
	return __wrap_recvfrom(fd, buffer, size, flags, NULL, NULL);
}

ssize_t __wrap_recvfrom(int fd, void *buffer, size_t size, int flags, struct sockaddr *from,
			socklen_t *length)
{
	size_t got = 0;
	ssize_t n;
	int waits = may_wait(fd, flags);
	int all = waits && flags & MSG_WAITALL && !(flags & MSG_PEEK) && is_stream(fd);
	do {
		n = recvfrom(fd, (char *) buffer + got, size - got,
			     waits ? flags | MSG_DONTWAIT : flags, from, length);
		changed(n);
		got += n > 0 ? (size_t) n : 0;
	} while (again(fd, n, POLLIN, &waits) || (all && n > 0 && got < size));
	return got ? (ssize_t) got : n;
}

ssize_t __wrap_recvmsg(int fd, struct msghdr *message, int flags)
{
	ssize_t n;
	int waits = may_wait(fd, flags);
	do {
		n = recvmsg(fd, message, waits ? flags | MSG_DONTWAIT : flags);
		changed(n);
	} while (again(fd, n, POLLIN, &waits));
	return n;
}

ssize_t __wrap_send(int fd, const void *buffer, size_t size, int flags)
{
	return __wrap_sendto(fd, buffer, size, flags, NULL, 0);
}

/* A long one goes in the pieces for which there is room. */
ssize_t __wrap_sendto(int fd, const void *buffer, size_t size, int flags, const struct sockaddr *to,
		      socklen_t length)
{
	size_t sent = 0;
	ssize_t n;
	int waits = may_wait(fd, flags), pieces = waits;
	do {
		n = sendto(fd, (const char *) buffer + sent, size - sent,
			   waits ? flags | MSG_DONTWAIT : flags, to, length);
		changed(n);
		sent += n > 0 ? (size_t) n : 0;
	} while (again(fd, n, POLLOUT, &waits) || (pieces && n > 0 && sent < size));
	return sent ? (ssize_t) sent : n;
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags)
{
	ssize_t n;
	int waits = may_wait(fd, flags);
	do {
		n = sendmsg(fd, message, waits ? flags | MSG_DONTWAIT : flags);
		changed(n);
	} while (again(fd, n, POLLOUT, &waits));
	return n;
}

/* Somebody may wait for it with poll(). */
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t length)
{
	int ret = connect(fd, to, length);
	changed(0);
	return ret;
}

int __wrap_shutdown(int fd, int how)
{
	int ret = shutdown(fd, how);
	changed(ret);
	return ret;
}

#pragma GCC visibility pop
