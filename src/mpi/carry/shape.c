/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The shape of the tree along which a value travels to n ranks (relay.h), chosen by what the
 * network is: its latency, its bandwidth, and what a message costs a processor (LogGP).
 *
 * A rank gives each child a part of the ranks that are left. Where a message takes long to arrive
 * and little to send, the parts are small, so that a rank has many children; where its bytes are
 * what takes time, the part is a half, which makes a binomial tree. A large value flows in pieces
 * through a chain or a binary tree, so many that the last rank has it soon after the first one.
 *
 * Invariant: both ends of a message split a list in the same way, by n and arity alone. */
#include <math.h>
#include "base/assert.h"
#include "base/config.h"
#include "base/log.h"
#include "mpi/carry/shape.h"
#include "mpi/carry/layer.h"

#define SHARES 16         /* a part is so many of so many */
#define LEAST_PIECE 16384 /* bytes */
#define MOST_PIECES 512   /* each is a message, and has a tag */
#define MANY_PIECES 24    /* more have LARGE_PIECE bytes at least, or as many ranks to cross */
#define LARGE_PIECE 262144
#define ENOUGH 0.7       /* of the best number of pieces: the rest gains little */
#define CLEARLY 0.85     /* a shape must be that much cheaper than a simpler one ... */
#define CLEARLY_BUSY 0.6 /* ... while other messages leave, too, which hops would wait for */
#define PARTIAL 0x8000   /* in arity: the low bits are a part */
#define MOMENT 0.02      /* of the time of its bytes a send may wait for others */
#define LEAST_MOMENT_US 1.0

/* ---- the network ---- */

#define NS_PER_US 1e3

static void replace(const char *name, double per_unit, double *value)
{
	long given = orr_config_long(name, 0);

	if (given > 0)
		*value = (double) given / per_unit;
}

const struct orr_mpi_network *orr_mpi_network(struct orr_mpi *mpi)
{
	struct orr_mpi_network *net = &mpi->network;

	orr_mpi_assert_owner(mpi);
	if (net->bytes_per_us > 0)
		return net;
	orr_sys_mpi_network(mpi->proc, net);
	replace("ORRERY_MPI_LATENCY", NS_PER_US, &net->latency_us);
	replace("ORRERY_MPI_BANDWIDTH", 1, &net->bytes_per_us);
	replace("ORRERY_MPI_OVERHEAD", NS_PER_US, &net->overhead_us);
	replace("ORRERY_MPI_PIECES", 1, &net->most_pieces);
	orr_assert(net->latency_us > 0 && net->bytes_per_us > 0 && net->overhead_us > 0);
	return net;
}

/* ---- shapes ---- */

static uint32_t ceil_log2(uint32_t n)
{
	return n > 1 ? 32 - (uint32_t) __builtin_clz(n - 1) : 0;
}

uint32_t orr_mpi_split(uint32_t n, uint32_t arity, uint32_t children_left)
{
	orr_assert(n > 0 && children_left > 0);
	if (!arity)
		return (n + 1) / 2;
	if (!(arity & PARTIAL))
		return (n + children_left - 1) / children_left;
	uint32_t part = (n * (arity & ~(uint32_t) PARTIAL) + SHARES / 2) / SHARES;

	return part ? part : 1;
}

uint32_t orr_mpi_nchildren(uint32_t n, uint32_t arity)
{
	uint32_t children = 0;

	if (arity && !(arity & PARTIAL))
		return n < arity ? n : arity;
	for (; n; n -= orr_mpi_split(n, arity, 1))
		children++;
	return children;
}

/* The network as it looks to a value of one size. */
struct costs {
	double step_us; /* from one child to the next */
	double hop_us;  /* from a rank to its child, until that one can pass the value on */
	int at_once;    /* all children are sent to at once, and share the network */
};

/* The time until the last of n ranks has the value. */
static double tree_us(const struct costs *c, uint32_t n, uint32_t arity)
{
	uint32_t children = orr_mpi_nchildren(n, arity);
	double last_us = 0;

	for (uint32_t i = 0; i < children; i++) {
		uint32_t part = orr_mpi_split(n, arity, children - i);
		double us = (c->at_once ? children - 1 : i) * c->step_us + c->hop_us +
			    tree_us(c, part - 1, arity);

		last_us = fmax(last_us, us);
		n -= part;
	}
	return last_us;
}

/* The best tree of whole messages. */
static double best_tree(const struct costs *c, uint32_t n, uint32_t *arity)
{
	static const uint32_t in_turn[] = { PARTIAL | 6, PARTIAL | 4, PARTIAL | 3,
					    PARTIAL | 2, PARTIAL | 1, 0 },
			      at_once[] = { 2, 3, 4, 6, 8, 0 };
	double best_us = tree_us(c, n, 0);

	*arity = 0;
	for (const uint32_t *a = c->at_once ? at_once : in_turn; *a; a++) {
		double us = tree_us(c, n, *a);
		if (us < best_us) {
			best_us = us;
			*arity = *a;
		}
	}
	return best_us;
}

/* The best number of pieces if each costs gap_us and all of them have to be sent `times` times, and
 * the first one crosses so many ranks. */
static size_t best_pieces(const struct orr_mpi_network *net, size_t bytes, double bytes_us,
			  double gap_us, double ranks)
{
	double n = ENOUGH * sqrt(ranks * bytes_us / gap_us), most = net->most_pieces;

	if (!net->most_pieces)
		most = fmax(MANY_PIECES, (double) (bytes / LARGE_PIECE));
	most = fmin(most, fmin((double) (bytes / LEAST_PIECE), MOST_PIECES));
	return (size_t) fmax(1, fmin(n, most));
}

/* Two pieces leave a rank at a time, and so come together. */
static double best_pipe(const struct orr_mpi_network *net, size_t bytes, uint32_t n, uint32_t arity,
			size_t *pieces)
{
	double bytes_us = (double) bytes / net->bytes_per_us;
	double gap_us = net->overhead_us + net->latency_us / 2;
	double depth = arity == 1 ? n : ceil_log2(n + 2) - 1;
	double ranks = arity == 1 ? 2 * (depth - 1) : depth - 1;

	*pieces = best_pieces(net, bytes, bytes_us, gap_us, fmax(ranks, 1));
	double piece_us = gap_us + bytes_us / (double) *pieces;
	return arity * ((double) *pieces + ranks) * piece_us +
	       (depth + 1) * (net->latency_us + net->overhead_us);
}

struct orr_mpi_plan orr_mpi_plan(const struct orr_mpi_network *net, size_t bytes, uint32_t n,
				 size_t eager_limit, enum orr_mpi_leaving leaving)
{
	struct orr_mpi_plan plan = { .tree = 0, .arity = 0, .piece = bytes };
	double bytes_us = (double) bytes / net->bytes_per_us;
	int messages = bytes < eager_limit ? 1 : 2, idle = leaving == ORR_MPI_LEAVES_NOTHING,
	    alone = idle || (messages == 1 && leaving == ORR_MPI_LEAVES_MATES);
	struct costs c = { .at_once = messages == 1,
			   .step_us = fmax(bytes_us, messages * net->overhead_us),
			   .hop_us = net->latency_us + net->overhead_us +
				     fmax(bytes_us, (messages - 1) * net->overhead_us) };
	double best_us = (n - 1) * fmax(bytes_us, net->overhead_us) + c.hop_us;
	uint32_t arity;

	if (n < 2)
		return plan;
	double us = best_tree(&c, n, &arity);
	if (us < (alone ? CLEARLY : CLEARLY_BUSY) * best_us) {
		plan.tree = 1;
		plan.arity = arity;
		best_us = us;
	}
	for (arity = 1; arity <= 2 && idle && bytes >= 2 * LEAST_PIECE; arity++) {
		size_t pieces;
		us = best_pipe(net, bytes, n, arity, &pieces);
		if (pieces > 1 && us < CLEARLY * best_us) {
			best_us = us;
			plan = (struct orr_mpi_plan){ .tree = 1,
						      .arity = arity,
						      .piece = (bytes + pieces - 1) / pieces };
		}
	}
	return plan;
}

/* ---- those that come later ---- */

double orr_mpi_bytes_us(const struct orr_mpi_network *net, size_t bytes)
{
	return (double) bytes / net->bytes_per_us;
}

double orr_mpi_moment_us(const struct orr_mpi_network *net, size_t bytes)
{
	double us = MOMENT * orr_mpi_bytes_us(net, bytes);

	return us < LEAST_MOMENT_US ? 0 : us;
}

size_t orr_mpi_window(const struct orr_mpi_network *net)
{
	return (size_t) (net->bytes_per_us * (net->latency_us + 2 * net->overhead_us));
}
