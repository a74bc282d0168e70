/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Processes with equal configurations share one, from orr_conf_share on until the last of them has
 * ended; what one of them changes before that is its own. The same for what they read from the
 * environment, where a change may come later, too (base/config.h). */
#include "start/shared_conf.h"

#include <stdlib.h>
#include <string.h>
#include "base/config.h"
#include "lib/test.h"
#include "start/the_process.h"

static void share_environment(void)
{
	struct orr_process *p[3];

	for (int i = 0; i < 3; i++) {
		p[i] = orr_process_new();
		CHECK(p[i] && p[i]->cfg == &orr_no_config);
		/* The texts are equal, but not the same. */
		CHECK(!setenv("STARPU_SCHED", i ? "lws" : "eager", 1));
		CHECK_IS(orr_config_read(orr_config_own(p[i])), 0);
		CHECK(orr_config_own(p[i]) == p[i]->cfg);
		orr_config_share(p[i]);
	}
	CHECK(p[0]->cfg != p[1]->cfg && p[1]->cfg == p[2]->cfg);
	int before = p[1]->cfg->prefetch;

	orr_config_own(p[2])->prefetch = !before;
	CHECK(p[1]->cfg != p[2]->cfg && p[1]->cfg->sched != p[2]->cfg->sched);
	CHECK(p[1]->cfg->prefetch == before && p[2]->cfg->prefetch == !before);
	CHECK(!strcmp(p[2]->cfg->sched, "lws"));
	orr_config_share(p[2]);
	CHECK(p[1]->cfg != p[2]->cfg);
	orr_config_own(p[2])->prefetch = before;
	orr_config_share(p[2]);
	CHECK(p[1]->cfg == p[2]->cfg);
	orr_process_free(p[1]);
	CHECK(!strcmp(p[2]->cfg->sched, "lws"));
	/* It stops: its numbers stay. */
	orr_config_free(orr_config_own(p[2]));
	CHECK(!p[2]->cfg->sched && p[2]->cfg->prefetch == before);
	orr_process_free(p[0]);
	orr_process_free(p[2]);
	CHECK(!unsetenv("STARPU_SCHED"));

	/* The process of a real run has one in one place. */
	struct orr_config *own = orr_config_own(&orr_the_process);

	CHECK_IS(orr_config_read(own), 0);
	orr_config_share(&orr_the_process);
	CHECK(orr_the_process.cfg == own && orr_config_own(&orr_the_process) == own);
	orr_config_free(own);
}

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
	share_environment();
	return 0;
}
