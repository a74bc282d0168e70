/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "part.h"

int twice(int x)
{
	return 2 * x;
}
