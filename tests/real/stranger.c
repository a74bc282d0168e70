/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Somebody at the door of the registry of process sets, through real sockets.
 *
 *     stranger sit|trickle|flood|knock ADDRESS PORT SECONDS
 *     stranger fuzz COUNT SEED       as the command of `orrery-elastic 2 ...`: messages without the
 * key stranger keyed COUNT SEED      of `orrery-elastic 1 ...`: messages of threads that have said
 * it
 *
 * Without the key, each message comes on a connection of its own, and counts when the registry has
 * closed that one after all of it. With the key, those of a connection do: it is given up when the
 * registry has closed it, and a message that is nonsense is the last one. Meanwhile a process of
 * the run gets its answers in time, and the registry does not grow.
 *
 * Invariant: the same arguments make the same messages.
 * orr-test: driven by strangers.sh */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "test.h"

enum { MOST = 4096, ABREAST = 32, PROMPT_MS = 5000 };

static struct {
	struct sockaddr_in address;
	char key[64];
	uint64_t random;
	int process; /* the connection of the process that is no stranger */
	unsigned ticket;
	double slowest_s; /* of its answers */
} self;

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

static unsigned below(unsigned n)
{
	self.random ^= self.random >> 12;
	self.random ^= self.random << 25;
	self.random ^= self.random >> 27;
	return (unsigned) ((self.random * 0x2545f4914f6cdd1dULL >> 32) % n);
}

/* ---- messages ---- */

struct message {
	unsigned char bytes[MOST];
	size_t n;
};

static void put_head(struct message *m, uint32_t bytes, uint32_t ticket)
{
	uint32_t head[2] = { htonl(bytes), htonl(ticket) };

	memcpy(m->bytes, head, sizeof(head));
	m->n = sizeof(head);
}

static void put_word(struct message *m, const char *word)
{
	size_t n = strlen(word) + 1;

	if (m->n + n > sizeof(m->bytes))
		return;
	memcpy(m->bytes + m->n, word, n);
	m->n += n;
}

static void put_number(struct message *m, long number)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld", number);
	put_word(m, text);
}

static void put_end(struct message *m)
{
	uint32_t bytes = htonl((uint32_t) (m->n - 8));

	memcpy(m->bytes, &bytes, sizeof(bytes));
}

static void hello(struct message *m, const char *key, const char *role, int number)
{
	put_head(m, 0, 0);
	put_word(m, "hello");
	put_word(m, key);
	put_word(m, role);
	put_number(m, number);
	put_word(m, "here");
	put_number(m, getpid());
	put_number(m, 0);
	put_end(m);
}

static const char *any_word(void)
{
	static const char *const words[] = {
		"mpi://WORLD",
		"mpi://SELF",
		"mpi://SELF/0",
		"0",
		"1",
		"2",
		"3",
		"4",
		"5",
		"6",
		"7",
		"8",
		"9",
		"10",
		"-1",
		"2147483647",
		"-2147483648",
		"4294967296",
		"18446744073709551616",
		"1e3",
		"a",
		"b",
		"c",
		"",
		"%n%s%n",
		"mpi_num_procs_add",
		"mpi_num_procs_sub",
		"mpi_part_sizes",
		"1,1",
		"1,,1",
		"prrte://base_name/0",
		"\x1b[2J",
		"\xff\xfe",
		"thread",
		"process",
		"early",
		"hello",
		"here",
		"0123456789abcdef0123456789abcdef",
	};

	return words[below(sizeof(words) / sizeof(words[0]))];
}

static void request(struct message *m)
{
	static const char *const verbs[] = { "ready", "psetop",  "psetop", "psetop",   "spawned",
					     "query", "get",     "set",    "finalize", "info",
					     "psets", "members", "join",   "port",     "ask" };

	put_head(m, 0, below(1000));
	put_word(m, verbs[below(sizeof(verbs) / sizeof(verbs[0]))]);
	for (unsigned n = below(10); n; n--)
		put_word(m, any_word());
	put_end(m);
}

/* A few bytes become others, the message is cut off, or says another length. */
static void change(struct message *m)
{
	for (unsigned n = 1 + below(4); n; n--) {
		switch (below(6)) {
		case 0: m->bytes[below((unsigned) m->n)] = (unsigned char) below(256); break;
		case 1: m->bytes[below((unsigned) m->n)] ^= (unsigned char) (1 << below(8)); break;
		case 2:
			m->bytes[below(8 < m->n ? 8 : (unsigned) m->n)] = (unsigned char) below(
				256);
			break;
		case 3: m->n = 1 + below((unsigned) m->n); break;
		case 4:
			for (unsigned more = below(64); more && m->n < MOST; more--)
				m->bytes[m->n++] = (unsigned char) below(256);
			break;
		default:
			if (m->n > 8)
				put_end(m);
		}
	}
}

/* Messages of somebody who does not have the key. */
static void without_key(struct message *m)
{
	static const char *const roles[] = { "process", "thread", "early", "king" };
	char key[40];
	unsigned n = below(8) ? 32 : below(40);

	for (unsigned i = 0; i < n; i++)
		key[i] = "0123456789abcdef"[below(16)];
	key[n] = 0;
	if (below(4)) {
		hello(m, key, roles[below(4)], (int) below(3));
	} else if (below(3)) {
		request(m);
	} else {
		for (m->n = 1 + below(below(8) ? 64 : MOST - 1); n < m->n; n++)
			m->bytes[n] = (unsigned char) below(256);
		for (n = 0; n < 32 && n < m->n; n++)
			m->bytes[n] = (unsigned char) below(256);
	}
	if (below(4))
		change(m);
}

/* ---- connections ---- */

static int dial(void)
{
	const struct linger none = { 1, 0 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(fd >= 0, "%s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
	if (connect(fd, (struct sockaddr *) &self.address, sizeof(self.address))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* True if something can be read, or the end, in that time. */
static int is_readable(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) > 0;
}

/* Reads until the other end has closed; the message must not be answered. */
static void until_closed(int fd, const char *what)
{
	char bytes[MOST];
	ssize_t n;

	do {
		CHECK(is_readable(fd, PROMPT_MS), "%s: the registry does not close", what);
		n = recv(fd, bytes, sizeof(bytes), 0);
		CHECK(strcmp(what, "stranger") || n <= 0, "a stranger is answered");
	} while (n > 0);
	close(fd);
}

/* One whole answer. */
static void answer(int fd, char *text, size_t room)
{
	uint32_t head[2];

	CHECK(is_readable(fd, PROMPT_MS), "the process gets no answer");
	CHECK_IS(recv(fd, head, sizeof(head), MSG_WAITALL), sizeof(head));
	CHECK(ntohl(head[0]) < room, "an answer of %u bytes", ntohl(head[0]));
	CHECK_IS(recv(fd, text, ntohl(head[0]), MSG_WAITALL), ntohl(head[0]));
	text[ntohl(head[0])] = 0;
}

static void ask(int fd, struct message *m, const char *wanted)
{
	char text[1 << 16];
	double begin = now_s();

	CHECK_IS(send(fd, m->bytes, m->n, MSG_NOSIGNAL), m->n);
	answer(fd, text, sizeof(text));
	CHECK(!strcmp(text, wanted), "the answer is %s", text);
	if (now_s() - begin > self.slowest_s)
		self.slowest_s = now_s() - begin;
}

static void ask_word(const char *word, const char *more)
{
	struct message m;

	put_head(&m, 0, ++self.ticket);
	put_word(&m, word);
	if (more)
		put_word(&m, more);
	put_end(&m);
	ask(self.process, &m, "ok");
}

/* Somebody of the run, who keeps to the protocol, arrives. Returns the connection. */
static int arrive(const char *role, int place)
{
	struct message m;
	int fd = dial();

	CHECK(fd >= 0, "nobody listens");
	hello(&m, self.key, role, place);
	ask(fd, &m, "ok");
	return fd;
}

static void say_bye(int fd)
{
	struct message m;

	put_head(&m, 0, 0);
	put_word(&m, "bye");
	put_word(&m, "0");
	put_end(&m);
	CHECK_IS(send(fd, m.bytes, m.n, MSG_NOSIGNAL), m.n);
}

/* ---- messages that are counted ---- */

static long memory_kib(void)
{
	char path[64], line[256];
	long kib = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", (int) getppid());
	FILE *f = fopen(path, "r");
	CHECK(f != NULL, "%s", path);
	while (fgets(line, sizeof(line), f))
		sscanf(line, "VmRSS: %ld", &kib);
	fclose(f);
	return kib;
}

static void fuzz_without(long count)
{
	struct message m;
	int fds[ABREAST];

	for (long done = 0; done < count; done += ABREAST) {
		for (int i = 0; i < ABREAST; i++) {
			fds[i] = dial();
			CHECK(fds[i] >= 0, "the registry does not listen any more: %s",
			      strerror(errno));
			without_key(&m);
			/* It may have turned away who sits there, or sent too much, by now. */
			if (send(fds[i], m.bytes, m.n, MSG_NOSIGNAL) == (ssize_t) m.n)
				shutdown(fds[i], SHUT_WR);
		}
		for (int i = 0; i < ABREAST; i++)
			until_closed(fds[i], "stranger");
		if (done % (1 << 12) == 0)
			close(arrive("early", 1));
	}
}

/* Threads of the process: each sends some messages, and reads until the registry has closed. */
static void fuzz_keyed(long count)
{
	struct message m;

	for (long done = 0; done < count;) {
		int fd = dial(), is_thread = below(16) != 0;
		unsigned n = is_thread ? 1 + below(15) : 0;

		CHECK(fd >= 0, "the registry does not listen any more: %s", strerror(errno));
		hello(&m, self.key,
		      is_thread  ? "thread"
		      : below(2) ? "early"
				 : "process",
		      is_thread ? 0 : (int) below(5));
		CHECK_IS(send(fd, m.bytes, m.n, MSG_NOSIGNAL), m.n);
		for (done++; n; n--) {
			int changed = !below(16);

			request(&m);
			if (changed)
				change(&m);
			if (send(fd, m.bytes, m.n, MSG_NOSIGNAL) != (ssize_t) m.n)
				break;
			done++;
			if (changed) /* the registry may end the connection after it */
				break;
		}
		shutdown(fd, SHUT_WR);
		until_closed(fd, "thread");
		if (!below(256))
			ask_word("members", "mpi://WORLD");
	}
}

static void fuzz(int keyed, long count, unsigned seed)
{
	char text[256];
	const char *server = getenv("ORRERY_DYN_SERVER");
	double begin = now_s();

	CHECK(server != NULL, "no registry");
	snprintf(text, sizeof(text), "%s", server);
	char *key = strrchr(text, ':');
	*key++ = 0;
	char *port = strrchr(text, ':');
	*port++ = 0;
	self.address = (struct sockaddr_in){ .sin_family = AF_INET,
					     .sin_port = htons((uint16_t) atoi(port)) };
	inet_pton(AF_INET, text, &self.address.sin_addr);
	snprintf(self.key, sizeof(self.key), "%s", key);
	self.random = 0x9e3779b97f4a7c15ULL * (seed + 1);
	/* Without the key: one process is awaited all the while, so that the registry looks after
	 * strangers as they come. */
	int late;
	self.process = arrive("process", 0);
	if (keyed)
		ask_word("ready", NULL);
	long tenth = count / 10, before;
	(keyed ? fuzz_keyed : fuzz_without)(tenth);
	before = memory_kib();
	(keyed ? fuzz_keyed : fuzz_without)(count - tenth);
	long grown = memory_kib() - before;
	if (!keyed) {
		struct message m;

		late = arrive("process", 1);
		for (int i = 0; i < 2; i++) {
			put_head(&m, 0, 1);
			put_word(&m, "ready");
			put_end(&m);
			CHECK_IS(send(i ? late : self.process, m.bytes, m.n, MSG_NOSIGNAL), m.n);
		}
		for (int i = 0; i < 2; i++)
			answer(i ? late : self.process, (char[4096]){ 0 }, 4096);
		say_bye(late);
	}
	ask_word("members", "mpi://WORLD");
	say_bye(self.process);
	printf("%ld messages %s the key in %.0f s; the slowest answer took %.3f s; the registry grew by %ld KiB after the first tenth\n",
	       count, keyed ? "with" : "without", now_s() - begin, self.slowest_s, grown);
	CHECK(grown < 20000, "it grows");
}

/* ---- strangers beside a run ---- */

static void beside(const char *how, double seconds)
{
	enum { CROWD = 100 };
	static char zeros[1 << 16];
	double end = now_s() + seconds;
	int fds[CROWD];
	long connections = 0;

	memset(fds, -1, sizeof(fds));
	for (int i = 0; now_s() < end; i = (i + 1) % CROWD) {
		int slow = !strcmp(how, "sit") || !strcmp(how, "trickle");
		if (fds[i] < 0 && (fds[i] = dial()) < 0) {
			usleep(1000);
			continue;
		}
		connections++;
		if (!strcmp(how, "trickle") &&
		    send(fds[i], zeros, 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
			slow = 0;
		if (!strcmp(how, "flood") &&
		    send(fds[i], zeros, sizeof(zeros), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
		    errno == EAGAIN)
			continue;
		if (slow && is_readable(fds[i], 0))
			slow = 0;
		if (!slow) {
			close(fds[i]);
			fds[i] = -1;
		} else if (i == 0) {
			usleep(10000);
		}
	}
	printf("%s: %ld times\n", how, connections);
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	if (argc == 4) {
		fuzz(!strcmp(argv[1], "keyed"), atol(argv[2]), (unsigned) atol(argv[3]));
		return 0;
	}
	CHECK(argc == 5, "see the head of this file");
	self.address = (struct sockaddr_in){ .sin_family = AF_INET,
					     .sin_port = htons((uint16_t) atoi(argv[3])) };
	CHECK(inet_pton(AF_INET, argv[2], &self.address.sin_addr) == 1, "%s", argv[2]);
	beside(argv[1], atof(argv[4]));
	return 0;
}
