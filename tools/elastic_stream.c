/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Streams of words that never block.
 *
 * Invariant: see elastic_stream.h. */
#include "elastic_stream.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/assert.h"

enum { HEAD = 2 * sizeof(uint32_t), PIECE = 65536 };

struct orr_stream orr_stream_of(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	return (struct orr_stream){ .fd = fd, .most = ORR_STREAM_STRANGER };
}

static int again(void)
{
	return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

/* Room for as many bytes as have come, and a piece more. */
static void make_room(char **buffer, size_t *room, size_t needed)
{
	if (needed <= *room)
		return;
	*room = needed > 2 * *room ? needed : 2 * *room;
	*buffer = orr_dyn_memory(*buffer, *room);
}

/* An empty buffer keeps no more than an ordinary message needs. */
static void release(char **buffer, size_t *room)
{
	if (*room <= 2 * PIECE)
		return;
	free(*buffer);
	*buffer = NULL;
	*room = 0;
}

int orr_stream_read(struct orr_stream *s)
{
	size_t limit = HEAD + s->most, piece = PIECE;
	if (s->nin >= limit)
		return 0; /* its messages have to be taken first */
	if (piece > limit - s->nin)
		piece = limit - s->nin;
	make_room(&s->in, &s->in_room, s->nin + piece);
	ssize_t got = recv(s->fd, s->in + s->nin, piece, MSG_DONTWAIT);
	if (got > 0)
		s->nin += (size_t) got;
	orr_assert(s->nin <= limit);
	return got > 0 || (got < 0 && again()) ? 0 : -1;
}

static size_t announced(const struct orr_stream *s)
{
	uint32_t head;
	memcpy(&head, s->in, sizeof(head));
	return ntohl(head);
}

int orr_stream_pending(const struct orr_stream *s)
{
	return s->nin >= HEAD && s->nin - HEAD >= announced(s);
}

int orr_stream_next(struct orr_stream *s, unsigned *ticket, struct orr_dyn_words *words)
{
	if (s->nin < HEAD)
		return 0;
	size_t bytes = announced(s);
	if (bytes > s->most)
		return -1;
	if (s->nin - HEAD < bytes)
		return 0;
	const char *text = s->in + HEAD;
	size_t n = 0;
	for (const char *at = text; (at = memchr(at, 0, (size_t) (text + bytes - at))); at++)
		n++;
	if (n > ORR_STREAM_WORDS || (bytes && text[bytes - 1]))
		return -1;
	uint32_t number;
	memcpy(&number, s->in + sizeof(number), sizeof(number));
	*ticket = ntohl(number);
	*words = orr_dyn_words_unpack(text, bytes);
	s->nin -= HEAD + bytes;
	memmove(s->in, text + bytes, s->nin);
	if (!s->nin)
		release(&s->in, &s->in_room);
	return 1;
}

int orr_stream_flush(struct orr_stream *s)
{
	while (s->sent < s->nout) {
		ssize_t sent = send(s->fd, s->out + s->sent, s->nout - s->sent,
				    MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return again() ? 0 : -1;
		s->sent += (size_t) sent;
	}
	s->nout = s->sent = 0;
	release(&s->out, &s->out_room);
	return 0;
}

int orr_stream_send(struct orr_stream *s, unsigned ticket, const struct orr_dyn_words *words)
{
	size_t bytes;
	char *text = orr_dyn_words_pack(words, &bytes);
	uint32_t head[2] = { htonl((uint32_t) bytes), htonl(ticket) };
	int full = bytes > ORR_STREAM_BACKLOG - HEAD ||
		   s->nout - s->sent > ORR_STREAM_BACKLOG - HEAD - bytes;
	if (!full) {
		if (s->sent)
			memmove(s->out, s->out + s->sent, s->nout - s->sent);
		s->nout -= s->sent;
		s->sent = 0;
		make_room(&s->out, &s->out_room, s->nout + HEAD + bytes);
		memcpy(s->out + s->nout, head, HEAD);
		memcpy(s->out + s->nout + HEAD, text, bytes);
		s->nout += HEAD + bytes;
	}
	free(text);
	return full ? -1 : orr_stream_flush(s);
}

void orr_stream_close(struct orr_stream *s)
{
	if (s->fd >= 0)
		close(s->fd);
	free(s->in);
	free(s->out);
	*s = (struct orr_stream){ .fd = -1 };
}
