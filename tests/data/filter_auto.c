/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Automatic switches: random sequences of reads and writes on a vector, on the pieces of three
 * plans of it, and on pieces of pieces, none of them switched by the program; explicit switches in
 * between. The results equal those of the sequential program.
 * orr-test: timeout 120 */
#include "data/filter_test.h"

#define NX 96
#define NVIEWS 64

/* A handle and the part of the vector that it stands for. */
struct view {
	starpu_data_handle_t h;
	unsigned start, n;
};

static unsigned v[NX], w[NX], out, ref;
static struct view views[NVIEWS];
static unsigned nviews;
static uint64_t state;

static unsigned draw(unsigned n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned) (state >> 33) % n;
}

struct plan {
	starpu_data_handle_t father, piece[16];
	unsigned n;
};

static void plan(struct plan *p, const struct view *father, unsigned n)
{
	struct starpu_data_filter f = blocks(n);

	p->father = father->h;
	p->n = n;
	starpu_data_partition_plan(p->father, &f, p->piece);
	for (unsigned i = 0; i < n; i++) {
		struct view *c = &views[nviews++];

		c->h = p->piece[i];
		c->start = father->start + block_start(father->n, n, i);
		c->n = block_start(father->n, n, i + 1) - block_start(father->n, n, i);
	}
}

/* Harmless wherever it comes: the next access switches as it needs. */
static void explicit_switch(struct plan *p)
{
	starpu_data_unpartition_submit(p->father, p->n, p->piece, draw(2) ? STARPU_MAIN_RAM : -1);
}

static void one(uint64_t seed)
{
	starpu_data_handle_t out_h;
	struct plan p[5];

	state = seed * 7919 + 1;
	nviews = 1;
	out = ref = 0;
	for (unsigned i = 0; i < NX; i++)
		v[i] = w[i] = i;
	starpu_vector_data_register(&views[0].h, STARPU_MAIN_RAM, (uintptr_t) v, NX, sizeof(*v));
	views[0].start = 0;
	views[0].n = NX;
	starpu_variable_data_register(&out_h, STARPU_MAIN_RAM, (uintptr_t) &out, sizeof(out));
	plan(&p[0], &views[0], 3);
	plan(&p[1], &views[0], 5);
	plan(&p[2], &views[0], 4);
	plan(&p[3], &views[1], 4);
	plan(&p[4], &views[2], 2);
	for (unsigned i = 0; i < 60; i++) {
		struct view *x = &views[draw(3) ? draw(nviews) : 0];
		unsigned value = draw(1000);

		switch (draw(6)) {
		case 5: /* wherever the value is just now: a hint */
			starpu_data_prefetch_on_node(x->h, draw(starpu_memory_nodes_get_count()),
						     1);
			break;
		case 0:
		case 1:
			mix(x->h, value);
			seq_mix(w + x->start, x->n, value);
			break;
		case 2:
		case 3:
			sum(x->h, out_h);
			seq_sum(w + x->start, x->n, &ref);
			break;
		default:
			if (draw(3)) {
				unsigned *q;

				CHECK(starpu_data_acquire(x->h, draw(2) ? STARPU_R : STARPU_RW) ==
				      0);
				q = (unsigned *) starpu_vector_get_local_ptr(x->h);
				CHECK(!memcmp(q, w + x->start, x->n * sizeof(*q)));
				starpu_data_release(x->h);
			} else {
				explicit_switch(&p[draw(5)]);
			}
		}
	}
	for (unsigned i = 5; i-- > 0;)
		starpu_data_partition_clean(p[i].father, p[i].n, p[i].piece);
	starpu_data_unregister(views[0].h);
	starpu_data_unregister(out_h);
	CHECK(!memcmp(v, w, sizeof(v)) && out == ref, "seed %llu", (unsigned long long) seed);
}

int main(int argc, char **argv)
{
	unsigned i, n = argc > 1 ? (unsigned) atoi(argv[1]) : 300;

	start();
	for (i = 0; i < n; i++)
		one(i);
	starpu_shutdown();
	return 0;
}
