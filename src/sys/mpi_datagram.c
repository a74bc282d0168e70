/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Datagrams between the ranks of a real run (contract: base/seam_datagram.h): UDP from a port that
 * the system chooses, at all addresses of the host.
 *
 * Rank 0 makes a key when the ranks meet, and MPI brings it to the others. A datagram says who sent
 * it, to whom, and its number, and ends with a code of all that under the key (base/siphash.h).
 * Others, and those that come a second time, are dropped. Ranks of one host use its loopback
 * interface, which is there when its links are not. To another host each datagram goes to all
 * addresses that the host had at the start, so that one network of several is enough.
 *
 * Invariant: nothing that comes in without the key changes anything. */
#include "base/seam_datagram.h"
#include "sys/mpi_transports.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <math.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/log.h"
#include "base/siphash.h"
#include "sys/mpi_host.h"
#include "sys/real.h"

#define DAEMON_MS 3000 /* the daemon of mpirun may take so long to end */
#define MOST_ADDRESSES 4
#define KEY_BYTES 16

/* A rank presents itself by it. */
struct card {
	double limit_us; /* that it wants; NAN: it has no socket */
	uint64_t host;   /* equal for processes that have one loopback interface */
	uint64_t pids;   /* ... and one numbering of processes */
	int32_t pid;
	uint16_t port; /* as the network has it, like the addresses */
	uint16_t naddresses;
	struct in6_addr addresses[MOST_ADDRESSES];
	char name[64];
};

struct head {
	uint64_t code; /* of all that follows */
	uint32_t from, to;
	uint32_t number; /* of those that the sender sent, from 1 */
	uint32_t nothing;
};

/* A process has one end, as it has one MPI. */
static struct datagrams {
	int socket, bell;
	int family;
	int rank, size;
	unsigned char key[KEY_BYTES];
	uint32_t nsent;
	struct card *cards; /* by rank */
	int *hosts;         /* by rank: the lowest rank of its host */
	uint32_t *numbers;  /* by rank: of the last one that came */
} own = { .socket = -1, .bell = -1 };

/* ---- this host ---- */

static void map_v4(struct in6_addr *to, struct in_addr v4)
{
	*to = (struct in6_addr){ 0 };
	to->s6_addr[10] = to->s6_addr[11] = 0xff;
	memcpy(&to->s6_addr[12], &v4, sizeof(v4));
}

/* Addresses by which other hosts may reach this one. */
static void find_addresses(struct card *card)
{
	struct ifaddrs *all, *i;

	if (getifaddrs(&all))
		return;
	for (i = all; i && card->naddresses < MOST_ADDRESSES; i = i->ifa_next) {
		struct in6_addr *to = &card->addresses[card->naddresses];
		if (!i->ifa_addr || !(i->ifa_flags & IFF_UP) || (i->ifa_flags & IFF_LOOPBACK))
			continue;
		if (i->ifa_addr->sa_family == AF_INET) {
			map_v4(to, ((struct sockaddr_in *) i->ifa_addr)->sin_addr);
		} else if (i->ifa_addr->sa_family == AF_INET6 && own.family == AF_INET6) {
			*to = ((struct sockaddr_in6 *) i->ifa_addr)->sin6_addr;
			if (IN6_IS_ADDR_LINKLOCAL(to))
				continue;
		} else {
			continue;
		}
		card->naddresses++;
	}
	freeifaddrs(all);
}

/* ---- addresses of the system ---- */

static socklen_t address(struct sockaddr_storage *to, const struct in6_addr *a, uint16_t port)
{
	memset(to, 0, sizeof(*to));
	to->ss_family = (sa_family_t) own.family;
	if (own.family == AF_INET6) {
		struct sockaddr_in6 *v6 = (struct sockaddr_in6 *) to;
		v6->sin6_addr = *a;
		v6->sin6_port = port;
		return sizeof(*v6);
	}
	struct sockaddr_in *v4 = (struct sockaddr_in *) to;
	memcpy(&v4->sin_addr, &a->s6_addr[12], sizeof(v4->sin_addr));
	v4->sin_port = port;
	return sizeof(*v4);
}

static int open_socket(int family)
{
	struct sockaddr_storage any;
	struct in6_addr zero = { 0 };
	int no = 0, fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	own.family = family;
	socklen_t length = address(&any, &zero, 0);
	if ((family == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no))) ||
	    bind(fd, (struct sockaddr *) &any, length)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* 0, or -1: there is no socket. */
static int open_end(struct card *card)
{
	struct sockaddr_storage bound;
	socklen_t length = sizeof(bound);

	own.socket = open_socket(AF_INET6);
	if (own.socket < 0)
		own.socket = open_socket(AF_INET);
	own.bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (own.socket < 0 || own.bell < 0 ||
	    getsockname(own.socket, (struct sockaddr *) &bound, &length))
		return -1;
	/* The port is at the same place in both kinds. */
	card->port = ((struct sockaddr_in *) &bound)->sin_port;
	find_addresses(card);
	return 0;
}

/* ---- beginning and end ---- */

/* Finds the lowest rank of each host. Ranks of a host mostly follow each other. */
static void find_hosts(void)
{
	for (int i = 0; i < own.size; i++) {
		int h = i ? own.hosts[i - 1] : 0;
		if (i && own.cards[h].host != own.cards[i].host)
			for (h = 0; h < i && own.cards[h].host != own.cards[i].host; h++)
				;
		own.hosts[i] = own.cards[h].host == own.cards[i].host ? own.hosts[h] : i;
		if (h == i)
			own.hosts[i] = i;
	}
}

/* The agreement of all ranks: 1, 0: none, -EINVAL. */
static int agree(double *limit_us)
{
	int none = 0, missing = -1;

	for (int i = 0; i < own.size; i++) {
		double limit = own.cards[i].limit_us;
		if (limit < 0)
			return -EINVAL;
		none |= limit == 0;
		if (isnan(limit))
			missing = i;
	}
	*limit_us = own.cards[0].limit_us;
	if (!none && missing >= 0 && own.rank == 0)
		orr_warn(
			"rank %d has no UDP socket, so that this run has no heartbeat: a rank that is lost will not be noticed",
			missing);
	return !none && missing < 0;
}

int orr_sys_datagrams_open(struct orr_process *proc, double *limit_us)
{
	MPI_Comm comm = orr_sys_mpi_comm(proc);
	struct card card = { .limit_us = *limit_us, .pid = getpid() };

	orr_assert(own.socket < 0 && !own.cards);
	MPI_Comm_rank(comm, &own.rank);
	MPI_Comm_size(comm, &own.size);
	if (*limit_us > 0 && open_end(&card))
		card.limit_us = NAN;
	orr_real_identify_host(&card.host, &card.pids);
	gethostname(card.name, sizeof(card.name) - 1);
	card.name[strcspn(card.name, ".")] = '\0';
	size_t n = (size_t) own.size;
	own.cards = calloc(n, sizeof(*own.cards));
	own.hosts = calloc(n, sizeof(*own.hosts));
	own.numbers = calloc(n, sizeof(*own.numbers));
	if (!own.cards || !own.hosts || !own.numbers)
		orr_fatal("out of memory for the addresses of %d ranks", own.size);
	if (!own.rank && getrandom(own.key, KEY_BYTES, 0) != KEY_BYTES)
		card.limit_us = NAN;
	MPI_Allgather(&card, sizeof(card), MPI_BYTE, own.cards, sizeof(card), MPI_BYTE, comm);
	int ret = agree(limit_us);
	if (ret > 0) {
		MPI_Bcast(own.key, KEY_BYTES, MPI_BYTE, 0, comm);
		find_hosts();
	} else {
		orr_sys_datagrams_close(proc);
	}
	return ret;
}

void orr_sys_datagrams_close(struct orr_process *proc)
{
	(void) proc;
	if (own.socket >= 0)
		close(own.socket);
	if (own.bell >= 0)
		close(own.bell);
	free(own.cards);
	free(own.hosts);
	free(own.numbers);
	own = (struct datagrams){ .socket = -1, .bell = -1 };
}

/* ---- sending and receiving ---- */

static void send_to(const struct in6_addr *a, uint16_t port, const void *bytes, size_t n)
{
	struct sockaddr_storage to;
	socklen_t length = address(&to, a, port);

	sendto(own.socket, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *) &to, length);
}

void orr_sys_datagram_send(struct orr_process *proc, int rank, const void *bytes, size_t n)
{
	const struct card *card = &own.cards[rank];
	struct head head = { .from = (uint32_t) own.rank, .to = (uint32_t) rank };
	char all[sizeof(head) + ORR_DATAGRAM_MAX];

	(void) proc;
	orr_assert(n <= ORR_DATAGRAM_MAX);
	head.number = ORR_ATOMIC_ADD_RELAXED(&own.nsent, 1);
	memcpy(all, &head, sizeof(head));
	memcpy(all + sizeof(head), bytes, n);
	n += sizeof(head);
	head.code = orr_siphash(own.key, all + sizeof(head.code), n - sizeof(head.code));
	memcpy(all, &head.code, sizeof(head.code));
	if (card->host == own.cards[own.rank].host) {
		struct in6_addr loopback;
		map_v4(&loopback, (struct in_addr){ htonl(INADDR_LOOPBACK) });
		send_to(&loopback, card->port, all, n);
		return;
	}
	for (unsigned i = 0; i < card->naddresses && i < MOST_ADDRESSES; i++)
		send_to(&card->addresses[i], card->port, all, n);
}

/* The bytes of the one that lies in `all`, 0: it is dropped. */
static size_t check(const char *all, size_t n, char bytes[ORR_DATAGRAM_MAX], int *from)
{
	struct head head;

	if (n <= sizeof(head))
		return 0;
	memcpy(&head, all, sizeof(head));
	if (head.from >= (uint32_t) own.size || head.to != (uint32_t) own.rank ||
	    head.code != orr_siphash(own.key, all + sizeof(head.code), n - sizeof(head.code)) ||
	    (int32_t) (head.number - own.numbers[head.from]) <= 0)
		return 0;
	own.numbers[head.from] = head.number;
	*from = (int) head.from;
	memcpy(bytes, all + sizeof(head), n - sizeof(head));
	return n - sizeof(head);
}

size_t orr_sys_datagram_receive(struct orr_process *proc, double timeout_us,
				char bytes[ORR_DATAGRAM_MAX], int *from)
{
	struct pollfd fds[] = { { .fd = own.socket, .events = POLLIN },
				{ .fd = own.bell, .events = POLLIN } };
	char all[sizeof(struct head) + ORR_DATAGRAM_MAX];
	uint64_t rings;

	(void) proc;
	orr_assert_no_lock();
	if (poll(fds, 2, (int) ceil(timeout_us * 1e-3)) <= 0)
		return 0;
	if (fds[1].revents && read(own.bell, &rings, sizeof(rings)) > 0)
		return 0;
	ssize_t n = recv(own.socket, all, sizeof(all), MSG_DONTWAIT | MSG_TRUNC);
	return n > 0 && (size_t) n <= sizeof(all) ? check(all, (size_t) n, bytes, from) : 0;
}

void orr_sys_datagrams_wake(struct orr_process *proc)
{
	uint64_t one = 1;

	(void) proc;
	if (write(own.bell, &one, sizeof(one)) != sizeof(one))
		orr_assertf(errno == EAGAIN, "the bell of datagrams: %s", strerror(errno));
}

int orr_sys_datagram_host(struct orr_process *proc, int rank)
{
	(void) proc;
	return own.hosts[rank];
}

const char *orr_sys_datagram_host_name(struct orr_process *proc, int rank)
{
	(void) proc;
	return own.cards[rank].name;
}

int orr_sys_datagram_held(struct orr_process *proc, int rank)
{
	char path[64], line[128];
	int tracer = 0;

	(void) proc;
	if (own.cards[rank].pids != own.cards[own.rank].pids)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/status", (int) own.cards[rank].pid);
	FILE *f = fopen(path, "re");
	while (f && !tracer && fgets(line, sizeof(line), f))
		sscanf(line, "TracerPid: %d", &tracer);
	if (f)
		fclose(f);
	return tracer != 0;
}

/* ---- the end ---- */

static struct timespec last; /* until this process ends */

/* Ends the daemon of mpirun: by a signal, at which it removes its files, and by another one where
 * it waits for mpirun all the same, as Open MPI 5's does. Only functions that are allowed after a
 * fork. */
static void end_daemon(int daemon)
{
	struct pollfd end = { .fd = daemon, .events = POLLIN };

	while (nanosleep(&last, &last) && errno == EINTR)
		;
	syscall(SYS_pidfd_send_signal, daemon, SIGTERM, NULL, 0);
	if (!poll(&end, 1, DAEMON_MS))
		syscall(SYS_pidfd_send_signal, daemon, SIGKILL, NULL, 0);
	_exit(0);
}

/* Ends what mpirun has started on this host to start ranks, which cannot hear from it any more. It
 * is told once, by the rank that has the lock: a second signal kills Open MPI's before it has
 * removed its files. A process of a session of its own does that: MPI may end the ranks before. */
static void end_launcher(void)
{
	static const char *const names[] = { "orted\n", "prted\n", "hydra_pmi_proxy\n" };
	pid_t launcher = getppid();
	char path[64], name[32] = "";
	int known = 0;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int) launcher);
	FILE *f = fopen(path, "re");
	if (!f)
		return;
	if (fgets(name, sizeof(name), f))
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			known |= !strncmp(name, names[i], 15);
	int daemon = known && !flock(fileno(f), LOCK_EX | LOCK_NB)
			     ? (int) syscall(SYS_pidfd_open, launcher, 0)
			     : -1;
	if (daemon >= 0 && getppid() == launcher && !fork()) {
		setsid();
		end_daemon(daemon);
	}
	fclose(f);
}

static void *end_main(void *arg)
{
	(void) arg;
	while (nanosleep(&last, &last) && errno == EINTR)
		;
	_exit(1);
}

void orr_sys_end_surely(struct orr_process *proc, double us, int cut_off)
{
	pthread_t thread;

	(void) proc;
	last.tv_sec = (time_t) (us * 1e-6);
	last.tv_nsec = (long) ((us - (double) last.tv_sec * 1e6) * 1e3);
	int ended = pthread_create(&thread, NULL, end_main, NULL);
	if (cut_off)
		end_launcher();
	if (ended)
		_exit(1);
}
