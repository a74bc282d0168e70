/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Words over a stream.
 *
 * Invariant: see dyn_wire.h. */
#include "dyn_wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int send_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t sent = send(fd, p, n, MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return -1;
		p += sent;
		n -= (size_t) sent;
	}
	return 0;
}

static int receive_all(int fd, char *p, size_t n)
{
	while (n) {
		ssize_t got = recv(fd, p, n, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return -1;
		p += got;
		n -= (size_t) got;
	}
	return 0;
}

int orr_dyn_wire_send(int fd, unsigned ticket, const struct orr_dyn_words *words)
{
	size_t bytes;
	char *text = orr_dyn_words_pack(words, &bytes);
	uint32_t head[2] = { htonl((uint32_t) bytes), htonl(ticket) };
	char *all = orr_dyn_memory(NULL, sizeof(head) + bytes);
	memcpy(all, head, sizeof(head));
	memcpy(all + sizeof(head), text, bytes);
	int ret = send_all(fd, all, sizeof(head) + bytes);
	free(all);
	free(text);
	return ret;
}

int orr_dyn_wire_receive(int fd, unsigned *ticket, struct orr_dyn_words *words)
{
	uint32_t head[2];
	if (receive_all(fd, (char *) head, sizeof(head)))
		return -1;
	size_t bytes = ntohl(head[0]);
	if (bytes > ORR_DYN_WIRE_MOST)
		return -1;
	char *text = orr_dyn_memory(NULL, bytes);
	int ret = receive_all(fd, text, bytes);
	if (!ret && bytes && text[bytes - 1])
		ret = -1;
	if (!ret) {
		*ticket = ntohl(head[1]);
		*words = orr_dyn_words_unpack(text, bytes);
	}
	free(text);
	return ret;
}
