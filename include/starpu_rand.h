/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Random numbers for programs and policies.
 *
 * Invariant: the sequence depends on the seed alone. The forms with a buffer are private to
 * the owner of the buffer; the others share one state in the process.
 */
#ifndef STARPU_RAND_H
#define STARPU_RAND_H

#include <stdlib.h>
#include <starpu_config.h>

/* State of the _r forms, owned by the caller. */
typedef struct drand48_data starpu_drand48_data;

#define starpu_seed(seed) starpu_srand48((long) (seed))
#define starpu_srand48(seed) srand48(seed)
#define starpu_drand48() drand48()
#define starpu_lrand48() lrand48()
#define starpu_erand48(xsubi) erand48(xsubi)
#define starpu_srand48_r(seed, buffer) srand48_r((seed), (buffer))
#define starpu_drand48_r(buffer, result) drand48_r((buffer), (result))
#define starpu_lrand48_r(buffer, result) lrand48_r((buffer), (result))
#define starpu_erand48_r(xsubi, buffer, result) erand48_r((xsubi), (buffer), (result))

#endif
