/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The door of the registry of process sets: connections of strangers, of processes and threads that
 * say the run's key, and of resource managers. Lines of the input:
 *
 *     C WORD...     connection C (a digit) sends a message of these words; "\" stands for a blank,
 *                   and a word KEY for the key
 *     C!BYTES       it sends these bytes
 *     C.            it closes its end
 *     M WORD...     a resource manager sends this line
 *
 * Whatever they send, a connection that has not said the key gets no byte and no more memory than a
 * short message needs, nobody gets more answers than requests, and nothing is left in the end. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "fuzz.h"
#include "../tools/elastic_manager.h"
#include "../tools/elastic_peers.h"

enum { CONNECTIONS = 10, MANAGER = CONNECTIONS, PROCESSES = 3, MOST_BYTES = 4096 };
#define KEY "5ca1ab1e0ddba11c0ffee0ddf00dcafe"

static struct {
	int fd;    /* their end; -1: not connected */
	int at;    /* its place among the peers, -1: another one has it now */
	int keyed; /* it has sent the key */
	int asked; /* messages that it may have sent */
	char in[1 << 16];
	size_t nin; /* of what it has received and not looked at */
} ends[CONNECTIONS + 1];

static struct orr_peers peers;
static unsigned long without, with; /* messages so far */

static void end_process(pid_t pid)
{
	MUST(pid > 1);
}

static void say(void *arg, const char *line)
{
	MUST(arg == &peers && *line);
}

static double now_s(void *arg)
{
	(void) arg;
	return 0;
}

static void print_counts(void)
{
	printf("door: %lu messages without the key, %lu with it\n", without, with);
}

/* ---- their ends ---- */

static int is_ours(int e)
{
	return ends[e].at >= 0 && orr_peers_is_open(&peers.v[ends[e].at]);
}

static void close_end(int e)
{
	if (ends[e].fd >= 0)
		close(ends[e].fd);
	ends[e].fd = -1;
}

static void connect_end(int e)
{
	int both[2];

	if (ends[e].fd >= 0 && is_ours(e))
		return;
	close_end(e);
	MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, both) == 0);
	ends[e].fd = both[1];
	ends[e].keyed = ends[e].asked = 0;
	ends[e].nin = 0;
	int at = orr_peers_new(&peers, both[0],
			       e == MANAGER ? ORR_PEER_MANAGER : ORR_PEER_STRANGER);
	for (int i = 0; i <= MANAGER; i++)
		if (ends[i].at == at)
			ends[i].at = -1;
	ends[e].at = at;
}

/* Whole answers only, and not more than there were requests. */
static void look_at(int e)
{
	uint32_t bytes;
	size_t at = 0;

	while (ends[e].nin - at >= 8) {
		memcpy(&bytes, ends[e].in + at, sizeof(bytes));
		bytes = ntohl(bytes);
		MUST(bytes < sizeof(ends[e].in) - 8 && ends[e].asked > 0);
		if (ends[e].nin - at - 8 < bytes)
			break;
		MUST(bytes && !ends[e].in[at + 8 + bytes - 1]);
		at += 8 + bytes;
		ends[e].asked--;
	}
	ends[e].nin -= at;
	memmove(ends[e].in, ends[e].in + at, ends[e].nin);
}

static void receive(int e)
{
	ssize_t n;

	while (ends[e].fd >= 0 && (n = recv(ends[e].fd, ends[e].in + ends[e].nin,
					    sizeof(ends[e].in) - ends[e].nin, 0)) > 0) {
		if (e == MANAGER)
			continue;
		MUST(ends[e].keyed);
		ends[e].nin += (size_t) n;
		look_at(e);
	}
}

/* ---- what they send ---- */

/* The messages of that end are served, as far as they will be. */
static void serve(int e)
{
	int at = ends[e].at;

	if (!is_ours(e))
		return;
	if (e == MANAGER)
		orr_manager_serve(&peers, at);
	else
		orr_peers_serve(&peers, at);
	MUST(ends[e].keyed || !is_ours(e) || peers.v[at].s.in_room <= 8192);
	receive(e);
	orr_peers_tidy(&peers);
	peers.stop = 0;
}

static void send_bytes(int e, const char *bytes, size_t n)
{
	connect_end(e);
	ends[e].asked++;
	*(ends[e].keyed ? &with : &without) += 1;
	if (send(ends[e].fd, bytes, n, MSG_NOSIGNAL) < 0)
		close_end(e);
}

static void send_words(int e, char *line, unsigned ticket)
{
	char bytes[MOST_BYTES], *rest = NULL;
	size_t n = 8;
	uint32_t head[2];

	connect_end(e);
	for (char *word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		if (!strcmp(word, "KEY")) {
			word = (char *) KEY;
			ends[e].keyed = 1;
		}
		size_t length = strlen(word) + 1;
		if (n + length > sizeof(bytes))
			break;
		memcpy(bytes + n, word, length);
		for (size_t i = n; i < n + length; i++)
			if (bytes[i] == '\\')
				bytes[i] = ' ';
		n += length;
	}
	head[0] = htonl((uint32_t) (n - 8));
	head[1] = htonl(ticket);
	memcpy(bytes, head, sizeof(head));
	send_bytes(e, bytes, n);
}

/* A line of the input, which ends at `end`. */
static void act(char *line, char *end, unsigned number)
{
	int e = *line == 'M' ? MANAGER : *line >= '0' && *line <= '9' ? *line - '0' : -1;

	if (e < 0)
		return;
	if (e == MANAGER && end - line > 2) {
		connect_end(e);
		*end = '\n';
		if (send(ends[e].fd, line + 2, (size_t) (end - line - 1), MSG_NOSIGNAL) < 0)
			close_end(e);
	} else if (line[1] == '!') {
		/* Several messages may be in them. */
		if (end - line > 2 && end - line < MOST_BYTES)
			send_bytes(e, line + 2, (size_t) (end - line - 2));
		ends[e].asked += MOST_BYTES;
	} else if (line[1] == '.') {
		close_end(e);
	} else {
		send_words(e, line + 1, number);
	}
	serve(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int begun;
	const struct orr_dyn_host host = {
		.reply = orr_peers_reply, .say = say, .now_s = now_s, .arg = &peers
	};
	char *text = fuzz_text(data, size), *last = text + size;

	if (!begun++)
		atexit(print_counts);
	peers = (struct orr_peers){
		.door = -1, .manager_door = -1, .key = KEY, .end_process = end_process, .say = say
	};
	peers.registry = orr_dyn_registry_new(&host, PROCESSES, 8);
	for (int e = 0; e <= MANAGER; e++)
		ends[e].fd = ends[e].at = -1;
	unsigned number = 0;
	for (char *line = text, *end; line < last; line = end + 1) {
		end = memchr(line, '\n', (size_t) (last - line));
		if (!end)
			end = last;
		*end = 0;
		act(line, end, ++number);
	}
	for (int e = 0; e <= MANAGER; e++) {
		receive(e);
		close_end(e);
		serve(e);
	}
	orr_peers_close(&peers);
	orr_dyn_script_free(&peers.script);
	orr_dyn_registry_free(peers.registry);
	free(text);
	return 0;
}
