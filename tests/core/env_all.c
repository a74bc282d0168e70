/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Starts the runtime once with each variable of the command line set to a text that is no number
 * and prints what came of it (env_all.sh knows what should). */
#include <errno.h>
#include <stdlib.h>

#include "core_test.h"

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *before = getenv(argv[i]);

		setenv(argv[i], "banana", 1);
		int ret = starpu_init(NULL);
		printf("%s %s\n", ret == -EINVAL ? "refused" : ret ? "failed" : "taken", argv[i]);
		fflush(stdout);
		if (!ret)
			starpu_shutdown();
		if (before)
			setenv(argv[i], before, 1);
		else
			unsetenv(argv[i]);
	}
	/* That one is gone. */
	CHECK(starpu_init(NULL) == 0, "the runtime does not start any more");
	starpu_shutdown();
	return 0;
}
