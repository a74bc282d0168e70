/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Processes with equal configurations share one, from orr_conf_share on until the last of them has
 * ended; what one of them changes before that is its own. */
#include "start/shared_conf.h"

#include "lib/test.h"
#include "start/the_process.h"

int main(void)
{
	struct orr_process *p[3];
	struct starpu_conf given;

	starpu_conf_init(&given);
	given.ncpus = 3;
	for (int i = 0; i < 3; i++) {
		p[i] = orr_process_new();
		CHECK(p[i] && p[i]->conf == &orr_no_conf && !p[i]->conf->ncpus);
		CHECK_IS(orr_conf_begin(p[i], i ? &given : NULL), 0);
		CHECK_IS(p[i]->conf->ncpus, i ? 3 : -1);
	}
	CHECK(p[1]->conf != p[2]->conf);
	p[2]->conf->ncpus = 2;
	for (int i = 0; i < 3; i++)
		orr_conf_share(p[i]);
	CHECK(p[0]->conf != p[1]->conf && p[1]->conf != p[2]->conf);
	CHECK_IS(p[1]->conf->ncpus, 3);

	/* It starts again, with what another process has. */
	CHECK_IS(orr_conf_begin(p[2], &given), 0);
	orr_conf_share(p[2]);
	CHECK(p[1]->conf == p[2]->conf);
	orr_conf_end(p[1]);
	CHECK(p[1]->conf == &orr_no_conf);
	CHECK_IS(p[2]->conf->ncpus, 3);
	CHECK_IS(orr_conf_begin(p[1], &given), 0);
	orr_conf_share(p[1]);
	CHECK(p[1]->conf == p[2]->conf);
	for (int i = 0; i < 3; i++)
		orr_process_free(p[i]);
	CHECK(!orr_no_conf.ncpus);
	return 0;
}
