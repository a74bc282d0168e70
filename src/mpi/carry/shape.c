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
#include "base/patience.h"
#include "mpi/carry/shape.h"

#define SHARES 16         /* a part is so many of so many */
#define LEAST_PIECE 32768 /* bytes */
#define MOST_PIECES 512   /* each is a message, and has a tag */
#define MANY_PIECES 8     /* more have LARGE_PIECE bytes at least: each costs all ranks a message */
#define LARGE_PIECE 1048576
#define PIECES_A_RANK 5 /* on the way of a large value: it takes 1.2 times as long as its bytes */
#define EAGER_PIECE (ORR_MPI_AT_ONCE - 512)
#define ENOUGH 0.7       /* of the best number of pieces: the rest gains little */
#define CLEARLY 0.85     /* a shape must be that much cheaper than a simpler one ... */
#define CLEARLY_BUSY 0.6 /* ... while other messages leave, too, which hops would wait for */
#define PARTIAL 0x8000   /* in arity: the low bits are a part */
#define SINGLE 0x4000    /* in arity: a piece leaves when the one before it has */
#define KNOWN 32         /* best trees that are remembered */
#define MOMENT 0.02      /* of the time of its bytes a send may wait for others */
#define LEAST_MOMENT_US 1.0

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
	uint32_t children = 0, most = arity & ~(uint32_t) SINGLE;

	if (most && !(most & PARTIAL))
		return n < most ? n : most;
	for (; n; n -= orr_mpi_split(n, arity, 1))
		children++;
	return children;
}

uint32_t orr_mpi_pieces_out(uint32_t arity)
{
	return arity & SINGLE ? 1 : 2;
}

/* The network as it looks to a value of one size. */
struct costs {
	double step_us; /* from one child to the next */
	double hop_us;  /* from a rank to its child, until that one can pass the value on */
	int at_once;    /* all children are sent to at once, and share the network */
};

/* Time that a message of its own keeps its sender busy before the next one: its bytes are on their
 * way, or are copied for it, which takes no longer than the message alone. */
static double busy_us(const struct orr_mpi_network *net, double bytes)
{
	double bytes_us = bytes / net->bytes_per_us, copy_us = 0;

	if (net->copy_bytes_per_us > 0 && bytes < ORR_MPI_AT_ONCE)
		copy_us = fmin(bytes / net->copy_bytes_per_us, net->latency_us + bytes_us);
	return fmax(bytes_us, copy_us);
}

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
static double find_tree(const struct costs *c, uint32_t n, uint32_t *arity)
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

/* The same, remembered: most values of a program have one size, and go to as many ranks. Plans are
 * made by the engine's owner alone. */
static double best_tree(const struct costs *c, uint32_t n, uint32_t *arity)
{
	static struct {
		struct costs costs;
		uint32_t n, arity;
		double us;
	} known[KNOWN], *k;

	k = &known[n % KNOWN];
	if (k->n != n || k->costs.step_us != c->step_us || k->costs.hop_us != c->hop_us ||
	    k->costs.at_once != c->at_once) {
		k->costs = *c;
		k->n = n;
		k->us = find_tree(c, n, &k->arity);
	}
	*arity = k->arity;
	return k->us;
}

/* The MPI agrees with the receiver on a piece that is not eager. Behind a slow network progression
 * threads sleep while a message is under way, and are late for that. A second piece hides it. */
static int may_leave_alone(const struct orr_mpi_network *net, size_t piece)
{
	return piece <= EAGER_PIECE || EAGER_PIECE / net->bytes_per_us <= ORR_PATIENCE_YIELD_US;
}

/* The pieces that are cut where n would be best, for a way through so many ranks. The last one has
 * all of them once it has waited for a piece from each rank before it, so values of many MiB get
 * some pieces for each rank. Pieces that would just not be eager, of 64 KiB for example, are
 * smaller. */
static size_t bound_pieces(const struct orr_mpi_network *net, size_t bytes, double ranks, double n)
{
	double most = net->most_pieces, large = (double) (bytes / LARGE_PIECE);

	if (!net->most_pieces)
		most = fmax(fmax(MANY_PIECES, large),
			    fmin(large * large / MANY_PIECES, PIECES_A_RANK * ranks));
	most = fmin(most, fmin((double) (bytes / LEAST_PIECE), MOST_PIECES));
	most = floor(fmax(1, fmin(ENOUGH * n, most)));
	if (most > 1 && !net->most_pieces && (double) bytes > EAGER_PIECE * most &&
	    (double) bytes <= 1.25 * EAGER_PIECE * most)
		most = ceil((double) bytes / EAGER_PIECE);
	return (size_t) most;
}

/* A value flows in pieces through a chain or a binary tree. A piece of b us is hop_us on its way,
 * too. If one leaves a rank at a time, it leaves and crosses a rank in b + hop_us; if two do, one
 * hides the way of the other, but they share the link, and cross a rank in the time of both. */
static double best_pipe(const struct orr_mpi_network *net, size_t bytes, uint32_t n, uint32_t arity,
			size_t *pieces)
{
	double bytes_us = (double) bytes / net->bytes_per_us;
	double hop_us = net->latency_us + net->overhead_us;
	double children = orr_mpi_nchildren(n, arity), out = orr_mpi_pieces_out(arity);
	double depth = children > 1 ? ceil_log2(n + 2) - 1 : n, ranks = fmax(depth - 1, 1);
	double most = sqrt(out * out * ranks * bytes_us / (children * hop_us));

	*pieces = bound_pieces(net, bytes, ranks, out > 1 ? fmax(most, bytes_us / hop_us) : most);
	double b = bytes_us / (double) *pieces, leaves_us = fmax(b, (b + hop_us) / out);
	return (double) *pieces * children * leaves_us + ranks * (out * b + hop_us) + 2 * hop_us;
}

struct orr_mpi_plan orr_mpi_plan(const struct orr_mpi_network *net, size_t bytes, uint32_t n,
				 size_t eager_limit, enum orr_mpi_leaving leaving)
{
	struct orr_mpi_plan plan = { .tree = 0, .arity = 0, .piece = bytes };
	int messages = bytes < eager_limit ? 1 : 2;
	double bytes_us = (double) bytes / net->bytes_per_us,
	       next_us = messages == 1 ? bytes_us : busy_us(net, (double) bytes);
	int idle = leaving == ORR_MPI_LEAVES_NOTHING,
	    alone = idle || (messages == 1 && leaving == ORR_MPI_LEAVES_MATES);
	struct costs c = { .at_once = messages == 1,
			   .step_us = fmax(next_us, messages * net->overhead_us),
			   .hop_us = net->latency_us + net->overhead_us +
				     fmax(bytes_us, (messages - 1) * net->overhead_us) };
	double best_us = (n - 1) * fmax(next_us, net->overhead_us) + c.hop_us;
	static const uint32_t pipes[] = { SINGLE | 1, 1, 2 };
	uint32_t arity;

	if (n < 2)
		return plan;
	double us = best_tree(&c, n, &arity);
	if (us < (alone ? CLEARLY : CLEARLY_BUSY) * best_us) {
		plan.tree = 1;
		plan.arity = arity;
		best_us = us;
	}
	for (int i = 0; i < 3 && idle && bytes >= 2 * LEAST_PIECE; i++) {
		size_t pieces;
		us = best_pipe(net, bytes, n, pipes[i], &pieces);
		if (pipes[i] & SINGLE && !may_leave_alone(net, bytes / pieces))
			continue;
		if (pieces > 1 && us < CLEARLY * best_us) {
			best_us = us;
			plan = (struct orr_mpi_plan){ .tree = 1,
						      .arity = pipes[i],
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
