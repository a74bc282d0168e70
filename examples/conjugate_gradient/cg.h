/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The codelets of the conjugate gradients, with the modes of their buffers in order.
 *
 * Invariant: a strip is a matrix of which x runs along the grid's rows; its ld is its nx.
 */
#ifndef CG_H
#define CG_H

#include <starpu_mpi.h>

/* W: x = 0, W: r = b, W: p = b; values: is this the first strip, the last one (ints) */
extern struct starpu_codelet start_cl;
/* W: q = A p, R: p, R: the strip above, R: the one below; values: are there such (ints) */
extern struct starpu_codelet apply_cl;
/* RW|COMMUTE: sum += a . b, R: a, R: b */
extern struct starpu_codelet dot_cl;
/* RW: x, RW: r, R: p, R: q, R: r.r, R: p.q */
extern struct starpu_codelet update_cl;
/* RW: p, R: r, R: new r.r, R: old r.r */
extern struct starpu_codelet direction_cl;
/* The reduction's: W: sum = 0; RW|COMMUTE: sum += other, R: other */
extern struct starpu_codelet scalar_zero_cl, scalar_add_cl;

#endif /* CG_H */
