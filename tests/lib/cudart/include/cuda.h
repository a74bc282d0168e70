/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Programs include this beside cuda_runtime_api.h; the stub has nothing more to offer.
 *
 * Invariant: none. */
#include <cuda_runtime_api.h>
