/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A switch for lib/hosts.sh that is slow to answer, for kernels without netem:
 *
 *      late MICROSECONDS INTERFACE...
 *
 * joins these interfaces as a bridge would, but a packet leaves so long after it has come. Says
 * "joined" when it does.
 *
 * Invariant: packets leave in the order in which they came, as they were sent, with what the kernel
 * left to be done to them (checksums, segments), which the header of PACKET_VNET_HDR says.
 *
 * orr-test: driven by ../hosts/bed.sh */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	PORTS = 64,
	HEADER = 10, /* struct virtio_net_hdr */
	ADDRESS = 6,
	LARGEST = 1 << 17,
	SOCKET_BYTES = 256 << 20,
	ETHERNET = 0x0003, /* ETH_P_ALL */
	IGNORE_OUTGOING = 23,
	VNET_HDR = 15
};

struct packet {
	struct packet *next;
	int64_t due_ns;
	size_t bytes;
	int from;
	unsigned char data[];
};

static struct port {
	unsigned char address[ADDRESS]; /* of the host behind it */
	int known;
} port[PORTS];
static struct pollfd ends[PORTS];
static int nports;
static int64_t late_ns;
static struct packet *first, **last = &first;

static void die(const char *what, const char *name)
{
	fprintf(stderr, "late: %s %s: %s\n", what, name, strerror(errno));
	exit(1);
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * (int64_t) 1000000000 + t.tv_nsec;
}

static void join(const char *name)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET, .sll_protocol = htons(ETHERNET) };
	int one = 1, bytes = SOCKET_BYTES;
	int end = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, htons(ETHERNET));

	at.sll_ifindex = (int) if_nametoindex(name);
	/* Packets that wait in a queue of the kernel count as the socket's. */
	if (end < 0 || !at.sll_ifindex ||
	    setsockopt(end, SOL_PACKET, VNET_HDR, &one, sizeof(one)) ||
	    setsockopt(end, SOL_PACKET, IGNORE_OUTGOING, &one, sizeof(one)) ||
	    setsockopt(end, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) ||
	    setsockopt(end, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) ||
	    bind(end, (struct sockaddr *) &at, sizeof(at)))
		die("no socket at", name);
	ends[nports] = (struct pollfd){ .fd = end, .events = POLLIN };
	nports++;
}

/* Keeps a packet until it is due; learns who is behind the port. */
static void take(int from)
{
	static unsigned char buf[LARGEST];
	ssize_t bytes;

	while ((bytes = recv(ends[from].fd, buf, sizeof(buf), 0)) > HEADER + 2 * ADDRESS) {
		struct packet *p = malloc(sizeof(*p) + (size_t) bytes);
		if (!p)
			die("no memory for", "a packet");
		p->next = NULL;
		p->due_ns = now_ns() + late_ns;
		p->bytes = (size_t) bytes;
		p->from = from;
		memcpy(p->data, buf, p->bytes);
		*last = p;
		last = &p->next;
		memcpy(port[from].address, buf + HEADER + ADDRESS, ADDRESS);
		port[from].known = 1;
	}
}

/* To the port of its address, or to all others. A queue that is full loses it, as a switch does. */
static void forward(const struct packet *p)
{
	int to = -1;

	for (int i = 0; i < nports; i++)
		if (port[i].known && !memcmp(port[i].address, p->data + HEADER, ADDRESS))
			to = i;
	for (int i = 0; i < nports; i++)
		if (i != p->from && (to < 0 || i == to) &&
		    send(ends[i].fd, p->data, p->bytes, 0) < 0 && errno != EAGAIN &&
		    errno != ENOBUFS && errno != ENETDOWN)
			fprintf(stderr, "late: a packet of %zu bytes is lost: %s\n", p->bytes,
				strerror(errno));
}

static void forward_due(void)
{
	while (first && first->due_ns <= now_ns()) {
		struct packet *p = first;
		first = p->next;
		if (!first)
			last = &first;
		forward(p);
		free(p);
	}
}

int main(int argc, char **argv)
{
	if (argc < 4 || argc - 2 > PORTS || atoi(argv[1]) < 0) {
		fputs("usage: late MICROSECONDS INTERFACE INTERFACE...\n", stderr);
		return 2;
	}
	late_ns = atoi(argv[1]) * (int64_t) 1000;
	prctl(PR_SET_TIMERSLACK, 1000);
	for (int i = 2; i < argc; i++)
		join(argv[i]);
	puts("joined");
	fflush(stdout);
	for (;;) {
		struct timespec rest = { 0 };
		int64_t ns = first ? first->due_ns - now_ns() : 0;
		rest.tv_sec = ns > 0 ? ns / 1000000000 : 0;
		rest.tv_nsec = ns > 0 ? ns % 1000000000 : 0;
		if (ppoll(ends, (nfds_t) nports, first ? &rest : NULL, NULL) > 0)
			for (int i = 0; i < nports; i++)
				if (ends[i].revents)
					take(i);
		forward_due();
	}
}
