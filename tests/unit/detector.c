/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The failure detector on a made-up network, whose time is a number: a rank that stops, a host that
 * is cut off or dies, each with 30 % of all datagrams lost, is named by one speaker, on the right
 * side, within the limit; a pause, loss, and a clock that jumps are survived for hours; a rank that
 * a debugger holds, or that has said goodbye, is not accused; one that was never heard neither.
 *
 * Invariant: all randomness is of one seed for each case, so that a failure can be repeated. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "mpi/run/detector.c"

#define MOST_RANKS 320
#define LIMIT_US 3e6
#define MOST_FLYING 65536

/* ---- the network ---- */

static struct rank {
	struct orr_detector *d;
	int host;
	double next_us;  /* of its next step */
	double clock_us; /* what its clock shows more than the time */
	int frozen, ended, held, mute;
	int spoke;
	unsigned nsent;
	char line[1024];
} ranks[MOST_RANKS];
static int size, per_host;
static int cut[MOST_RANKS]; /* by host's lowest rank */
static double now_us, loss;
static uint64_t seed;
static struct datagram {
	double at_us;
	int from, to;
	size_t n;
	char bytes[ORR_DATAGRAM_MAX];
} * flying;
static int nflying;

static double draw(void)
{
	uint64_t z = seed += 0x9e3779b97f4a7c15; /* splitmix64 */

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	z ^= z >> 31;
	return (double) (z >> 11) / (double) (UINT64_C(1) << 53);
}

/* A process is the address of its rank here. */
static struct orr_process *proc_of(int rank)
{
	return (struct orr_process *) &ranks[rank];
}

static int rank_of(struct orr_process *proc)
{
	return (int) ((struct rank *) proc - ranks);
}

void orr_sys_datagram_send(struct orr_process *proc, int to, const void *bytes, size_t n)
{
	int from = rank_of(proc), hosts_differ = ranks[from].host != ranks[to].host;

	CHECK(to != from && to >= 0 && to < size && n <= ORR_DATAGRAM_MAX);
	ranks[from].nsent++;
	if (ranks[from].mute || ranks[to].mute ||
	    (hosts_differ && (cut[ranks[from].host] || cut[ranks[to].host])) ||
	    (hosts_differ && draw() < loss))
		return;
	CHECK(nflying < MOST_FLYING);
	struct datagram *g = &flying[nflying++];
	*g = (struct datagram){
		.at_us = now_us + 100 + 400 * draw(), .from = from, .to = to, .n = n
	};
	memcpy(g->bytes, bytes, n);
}

int orr_sys_datagram_host(struct orr_process *proc, int rank)
{
	(void) proc;
	return ranks[rank].host;
}

const char *orr_sys_datagram_host_name(struct orr_process *proc, int rank)
{
	static char names[4][16];
	static int turn;
	char *name = names[turn++ % 4];

	(void) proc;
	snprintf(name, 16, "h%d", ranks[rank].host / per_host + 1);
	return name;
}

int orr_sys_datagram_held(struct orr_process *proc, int rank)
{
	return ranks[rank].held && ranks[rank].host == ranks[rank_of(proc)].host;
}

/* Rank 0 waits for all of them, others for none. */
unsigned orr_detector_waits(struct orr_process *proc, const int *lost, int n,
			    char text[ORR_DETECTOR_TEXT])
{
	text[0] = '\0';
	if (rank_of(proc) || !n)
		return 0;
	snprintf(text, ORR_DETECTOR_TEXT, "a receive with tag 7 from rank %d", lost[0]);
	return (unsigned) n;
}

/* ---- time ---- */

static void step(int i)
{
	struct rank *r = &ranks[i];
	double wait_us;
	enum orr_detector_outcome outcome;

	outcome = orr_detector_step(r->d, now_us + r->clock_us, &wait_us);
	r->next_us = now_us + wait_us + 1000 * draw();
	if (outcome == ORR_DETECTOR_WATCHES)
		return;
	r->ended = 1;
	if (outcome != ORR_DETECTOR_SPEAKS)
		return;
	r->spoke = 1;
	FILE *f = fmemopen(r->line, sizeof(r->line), "w");
	orr_detector_say(r->d, f);
	fclose(f);
}

static void deliver(struct datagram *g)
{
	struct rank *r = &ranks[g->to];

	if (r->frozen || r->ended)
		return; /* a process that goes on may find some of them; this one is harder */
	orr_detector_in(r->d, g->from, g->bytes, g->n);
	step(g->to);
}

/* Lets so much time pass. */
static void run_for(double us)
{
	double end_us = now_us + us;

	while (now_us < end_us) {
		double next = end_us;
		for (int i = 0; i < size; i++)
			if (!ranks[i].frozen && !ranks[i].ended && ranks[i].next_us < next)
				next = ranks[i].next_us;
		for (int i = 0; i < nflying; i++)
			if (flying[i].at_us < next)
				next = flying[i].at_us;
		now_us = next > now_us ? next : now_us;
		for (int i = 0; i < nflying; i++)
			if (flying[i].at_us <= now_us) {
				struct datagram g = flying[i];
				flying[i--] = flying[--nflying];
				deliver(&g);
			}
		for (int i = 0; i < size; i++)
			if (!ranks[i].frozen && !ranks[i].ended && ranks[i].next_us <= now_us)
				step(i);
	}
}

static void begin(int nhosts, int each, uint64_t of, double lossy)
{
	size = nhosts * each;
	per_host = each;
	seed = of;
	loss = lossy;
	now_us = 1e6 * draw();
	nflying = 0;
	CHECK(size <= MOST_RANKS);
	memset(cut, 0, sizeof(cut));
	memset(ranks, 0, sizeof(ranks));
	for (int i = 0; i < size; i++) {
		ranks[i].host = i / each * each;
		ranks[i].clock_us = 1e9 * draw();
		ranks[i].d = orr_detector_new(proc_of(i), i, size, LIMIT_US,
					      now_us + ranks[i].clock_us);
		CHECK(ranks[i].d);
	}
}

static void end(void)
{
	for (int i = 0; i < size; i++)
		orr_detector_free(ranks[i].d);
}

/* ---- what is checked ---- */

/* All of these ranks have ended, and one of them spoke, with these words. */
static void check_end(int first, int last, const char *words, uint64_t of)
{
	int nspoke = 0, speaker = -1;

	for (int i = first; i <= last; i++) {
		if (ranks[i].frozen)
			continue;
		if (ranks[i].spoke) {
			nspoke++;
			speaker = i;
		}
		if (!ranks[i].ended)
			fprintf(stderr, "case %llu: rank %d goes on\n", (unsigned long long) of, i);
		CHECK(ranks[i].ended);
	}
	if (nspoke != 1 || !strstr(ranks[speaker].line, words)) {
		for (int i = first; i <= last; i++)
			if (ranks[i].spoke)
				fprintf(stderr, "case %llu, rank %d: %s\n", (unsigned long long) of,
					i, ranks[i].line);
		fprintf(stderr, "wanted: %s\n", words);
		CHECK(0);
	}
}

static void check_nobody(void)
{
	for (int i = 0; i < size; i++) {
		if (ranks[i].spoke)
			fprintf(stderr, "rank %d: %s\n", i, ranks[i].line);
		CHECK(!ranks[i].ended);
	}
}

static void ranks_that_stop(void)
{
	for (uint64_t i = 0; i < 200; i++) {
		int lost = (int) (i % 8);
		char words[64];
		begin(4, 2, i, i % 2 ? 0.3 : 0);
		run_for(2e6 + 5e6 * draw());
		ranks[lost].frozen = 1;
		run_for(LIMIT_US * 1.05);
		snprintf(words, sizeof(words), "lost: rank %d on host h%d; ", lost, lost / 2 + 1);
		run_for(4e6); /* those that were told */
		check_end(0, 7, words, i);
		if (lost)
			CHECK(strstr(ranks[0].line,
				     "what waits for that: rank 0 (a receive with tag 7"));
		end();
	}
}

static void hosts_that_die(void)
{
	for (uint64_t i = 0; i < 200; i++) {
		int lost = (int) (i % 4);
		char words[64];
		begin(4, 3, i, i % 2 ? 0.3 : 0);
		run_for(2e6 + 5e6 * draw());
		for (int k = 0; k < 3; k++)
			ranks[3 * lost + k].frozen = 1;
		run_for(LIMIT_US * 1.05);
		int nspoke = 0;
		for (int k = 0; k < 12; k++)
			nspoke += ranks[k].spoke;
		CHECK(nspoke == 1);
		run_for(4e6);
		snprintf(words, sizeof(words), "lost: host h%d with ranks %d, %d, %d; ", lost + 1,
			 3 * lost, 3 * lost + 1, 3 * lost + 2);
		check_end(0, 11, words, i);
		end();
	}
}

static void hosts_that_are_cut_off(int nhosts, int each)
{
	for (uint64_t i = 0; i < 200; i++) {
		int lost = (int) (i % (unsigned) nhosts), first = lost * each,
		    last = first + each - 1;
		char words[64];
		begin(nhosts, each, i, i % 2 ? 0.3 : 0);
		run_for(2e6 + 5e6 * draw());
		cut[first] = 1;
		run_for(LIMIT_US * 1.05 + 4e6);
		snprintf(words, sizeof(words), "host h%d is cut off", lost + 1);
		/* Of two hosts, the one without rank 0 is. */
		if (nhosts == 2) {
			check_end(each, 2 * each - 1, "host h2 is cut off", i);
			check_end(0, each - 1, "lost: host h2 with rank", i);
			end();
			continue;
		}
		check_end(first, last, words, i);
		snprintf(words, sizeof(words), "lost: host h%d with rank", lost + 1);
		for (int k = first; k <= last; k++)
			ranks[k].frozen = 1; /* they have been looked at */
		for (int k = first; k <= last; k++)
			ranks[k].spoke = 0;
		check_end(0, size - 1, words, i);
		end();
	}
}

/* Nobody is accused in ten hours of loss, nor in hours of pauses of two seconds and of clocks that
 * jump while a process sleeps. */
static void false_alarms(void)
{
	begin(4, 2, 98, 0.3);
	run_for(36e9);
	check_nobody();
	end();
	begin(4, 2, 99, 0);
	for (int i = 0; i < 4000; i++) {
		int who = (int) (8 * draw());
		ranks[who].frozen = i % 4 == 0;
		run_for(2e6);
		ranks[who].frozen = 0;
		if (i % 5 == 0)
			ranks[(who + 3) % 8].clock_us += 3600e6;
		run_for(1e6 + 2e6 * draw());
	}
	check_nobody();
	/* All of them, for a minute: a terminal stopped the run. */
	for (int i = 0; i < 8; i++)
		ranks[i].frozen = 1;
	run_for(60e6);
	for (int i = 0; i < 8; i++)
		ranks[i].frozen = 0;
	run_for(20e6);
	check_nobody();
	end();
}

/* More ranks than are asked as a whole. */
static void large_runs(void)
{
	begin(5, 64, 11, 0.1);
	run_for(4e6);
	ranks[200].frozen = 1;
	run_for(LIMIT_US * 1.05 + 4e6);
	check_end(0, 319, "lost: rank 200 on host h4; ", 11);
	end();
	begin(5, 64, 12, 0);
	run_for(4e6);
	for (int i = 128; i < 192; i++)
		ranks[i].frozen = 1;
	run_for(LIMIT_US * 1.05 + 4e6);
	check_end(0, 319, "lost: host h3 with ranks 128, 129, ", 12);
	end();
	begin(40, 8, 13, 0.1);
	run_for(4e6);
	cut[8] = 1;
	run_for(LIMIT_US * 1.05 + 4e6);
	check_end(8, 15, "host h2 is cut off", 13);
	for (int i = 8; i < 16; i++)
		ranks[i] = (struct rank){ .d = ranks[i].d, .frozen = 1 };
	check_end(0, 319, "lost: host h2 with ranks 8, 9, ", 13);
	end();
}

static void peers_without_failure(void)
{
	begin(8, 6, 1, 0);
	run_for(100 * LIMIT_US);
	check_nobody();
	for (int i = 0; i < size; i++)
		if (ranks[i].nsent > 1600) {
			fprintf(stderr, "rank %d sent %u\n", i, ranks[i].nsent);
			CHECK(0);
		}
	end();
}

static void excuses(void)
{
	/* In the hands of a debugger, on the host of its watcher. */
	begin(2, 2, 5, 0);
	run_for(5e6);
	ranks[0].held = ranks[0].frozen = 1;
	run_for(60e6);
	ranks[0].held = 0;
	check_nobody();
	run_for(LIMIT_US * 1.1 + 4e6);
	check_end(0, 3, "lost: rank 0 on host h1; ", 5);
	end();
	/* One that ends. */
	begin(2, 2, 6, 0);
	run_for(5e6);
	orr_detector_bye(ranks[2].d);
	ranks[2].frozen = 1;
	run_for(60e6);
	check_nobody();
	end();
	/* One whose datagrams nobody gets: a firewall. */
	begin(3, 1, 7, 0);
	ranks[1].mute = 1;
	run_for(60e6);
	check_nobody();
	end();
}

/* Bytes that no detector sent change nothing and break nothing. */
static void nonsense(void)
{
	begin(2, 2, 8, 0);
	run_for(1e6);
	for (int i = 0; i < 100000; i++) {
		char bytes[ORR_DATAGRAM_MAX];
		size_t n = (size_t) (draw() * sizeof(bytes));
		for (size_t k = 0; k < n; k++)
			bytes[k] = (char) (256 * draw());
		if (n >= 4 && i % 2)
			memcpy(bytes, &(uint32_t){ (uint32_t) (8 * draw()) }, 4);
		orr_detector_in(ranks[1].d, 0, bytes, n);
		ranks[1].d->of[0].gone = 0;
	}
	nflying = 0;
	run_for(1e6);
	check_nobody();
	end();
}

int main(void)
{
	flying = malloc(MOST_FLYING * sizeof(*flying));
	CHECK(flying);
	ranks_that_stop();
	hosts_that_die();
	hosts_that_are_cut_off(4, 2);
	hosts_that_are_cut_off(3, 1);
	hosts_that_are_cut_off(2, 2);
	false_alarms();
	large_runs();
	peers_without_failure();
	excuses();
	nonsense();
	free(flying);
	return 0;
}
