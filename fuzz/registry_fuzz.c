/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The registry of process sets, as peers with the run's key reach it. Lines of the input:
 *
 *     @arrive START PLACE HOST  a process connects, from that host ("host")
 *     @gone UID FAILED          it ends
 *     @forget UID TICKET        a thread of it closes its connection
 *     @demand WHAT HOW          the resource manager asks
 *     @room HOST N              it gives room, or takes it back
 *     @deny                     it gives none to those that wait
 *     UID WORD...               a request; "\" in a word stands for a blank
 *
 * The bytes themselves go through a stream of words, too. Whatever they say, no request has more
 * than one answer, none is answered after it was forgotten, new processes have a place each, and
 * nothing is left in the end. */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "dyn/registry.h"
#include "fuzz.h"
#include "../tools/elastic_stream.h"

enum { MOST = 512, PROCESSES = 3 };

static char open_tickets[MOST]; /* 1: asked, 2: answered, 0: forgotten */
static int asker[MOST];
static int nrequests;

/* spawn N START HOST:N,HOST:N... */
static void check_places(const struct orr_dyn_words *answer)
{
	long places = 0;
	for (const char *c = orr_dyn_word(answer, 3); c && (c = strchr(c, ':'));)
		places += strtol(++c, NULL, 10);
	MUST(places == orr_dyn_number(answer, 1));
}

static void reply(void *arg, int uid, unsigned ticket, const struct orr_dyn_words *answer)
{
	(void) arg;
	(void) uid;
	MUST(ticket < MOST && open_tickets[ticket] == 1 && asker[ticket] == uid);
	MUST(answer->n > 0);
	if (orr_dyn_word_is(answer, 0, "spawn") && answer->n > 3)
		check_places(answer);
	open_tickets[ticket] = 2;
}

static void say(void *arg, const char *line)
{
	(void) arg;
	for (const char *c = line; *c; c++)
		MUST((unsigned char) *c >= ' ');
}

static double now_s(void *arg)
{
	(void) arg;
	return 0;
}

static struct orr_dyn_words split(char *line)
{
	struct orr_dyn_words words = { 0 };
	char *rest = NULL;
	for (char *word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		for (char *c = word; *c; c++)
			if (*c == '\\')
				*c = ' ';
		orr_dyn_words_add(&words, word);
	}
	return words;
}

static void request(struct orr_dyn_registry *r, struct orr_dyn_words *words, const int *here)
{
	int uid = orr_dyn_count(words, 0, 63);
	if (uid < 0 || !here[uid] || nrequests == MOST)
		return;
	free(words->w[0]);
	memmove(words->w, words->w + 1, (size_t) --words->n * sizeof(*words->w));
	open_tickets[nrequests] = 1;
	asker[nrequests] = uid;
	orr_dyn_request(r, uid, (unsigned) nrequests++, words);
}

static void act(struct orr_dyn_registry *r, char *line, int *here)
{
	struct orr_dyn_words words = split(line);
	int a = orr_dyn_count(&words, 1, 63), b = orr_dyn_count(&words, 2, MOST - 1);
	if (orr_dyn_word_is(&words, 0, "@arrive")) {
		int uid = orr_dyn_arrive(r, (int) orr_dyn_number(&words, 1),
					 (int) orr_dyn_number(&words, 2),
					 words.n > 3 ? orr_dyn_word(&words, 3) : "host");
		if (uid >= 0 && uid < 64)
			here[uid] = 1;
	} else if (orr_dyn_word_is(&words, 0, "@gone") && a >= 0 && here[a]) {
		here[a] = 0;
		orr_dyn_gone(r, a, b > 0);
	} else if (orr_dyn_word_is(&words, 0, "@forget") && a >= 0 && b >= 0 && here[a]) {
		orr_dyn_forget(r, a, (unsigned) b);
		if (open_tickets[b] == 1 && asker[b] == a)
			open_tickets[b] = 0;
	} else if (orr_dyn_word_is(&words, 0, "@demand")) {
		struct orr_dyn_words demand = { 0 };
		orr_dyn_words_copy(&demand, &words, 1);
		orr_dyn_demand(r, &demand);
		orr_dyn_words_free(&demand);
	} else if (orr_dyn_word_is(&words, 0, "@room")) {
		orr_dyn_room(r, orr_dyn_word(&words, 1), (int) orr_dyn_number(&words, 2));
	} else if (orr_dyn_word_is(&words, 0, "@deny")) {
		orr_dyn_deny(r, "refused");
	} else if (words.n) {
		request(r, &words, here);
	}
	orr_dyn_words_free(&words);
}

/* The bytes as somebody else sends them. */
static void stream(const uint8_t *data, size_t size)
{
	int ends[2];
	if (size > 4096 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return;
	struct orr_stream s = orr_stream_of(ends[0]);
	struct orr_dyn_words words = { 0 };
	unsigned ticket;
	int got = 1;
	MUST(send(ends[1], data, size, MSG_DONTWAIT) == (ssize_t) size || !size);
	close(ends[1]);
	for (int i = 0; i < 8 && got >= 0; i++) {
		int ended = orr_stream_read(&s);
		while ((got = orr_stream_next(&s, &ticket, &words)) > 0)
			orr_dyn_words_free(&words);
		if (ended)
			break;
	}
	orr_stream_close(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct orr_dyn_host host = { .reply = reply, .say = say, .now_s = now_s };
	char *text = fuzz_text(data, size), *rest = text, ready[] = "N ready";
	int here[64] = { 0 };
	struct orr_dyn_registry *r = orr_dyn_registry_new(&host, PROCESSES, 8);
	nrequests = 0;
	memset(open_tickets, 0, sizeof(open_tickets));
	for (int i = 0; i < PROCESSES; i++) {
		here[orr_dyn_arrive(r, 0, i, "host")] = 1;
		ready[0] = (char) ('0' + i);
		char line[sizeof(ready)];
		memcpy(line, ready, sizeof(ready));
		act(r, line, here);
	}
	for (char *line; (line = fuzz_line(&rest));)
		act(r, line, here);
	orr_dyn_registry_free(r);
	free(text);
	stream(data, size);
	return 0;
}
