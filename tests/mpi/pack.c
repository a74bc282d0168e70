/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An interface of the program travels packed. */
#include "user_interface.h"

int main(int argc, char **argv)
{
	if (!begin(&argc, &argv, 2))
		return 77;
	exchange_pairs();
	CHECK(packed == 8 && unpacked == 8, "packed %d times, unpacked %d times", packed, unpacked);
	return end();
}
