/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The configurations of processes (config.h): thousands of simulated ones have equal ones.
 *
 * Invariant: the list has those that are shared, with as many users as processes that point to
 * them; no two of them are equal, and none of them changes. Processes that share take turns, so
 * there is no lock. */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/log.h"
#include "base/process.h"

const struct orr_config orr_no_config;
struct orr_kept_config orr_lasting_config;
static struct orr_kept_config *shared;

static void leave(struct orr_kept_config *k)
{
	struct orr_kept_config **at = &shared;

	if (k->users && --k->users)
		return;
	while (*at && *at != k)
		at = &(*at)->next;
	if (*at)
		*at = k->next;
	orr_config_free(&k->cfg);
	free(k);
}

struct orr_config *orr_config_own(struct orr_process *proc)
{
	struct orr_kept_config *k = (struct orr_kept_config *) proc->cfg, *before = NULL;

	if (proc->cfg != &orr_no_config && !k->users)
		return &k->cfg;
	if (proc->cfg != &orr_no_config)
		before = k;
	k = calloc(1, sizeof(*k));
	if (!k || orr_config_copy(&k->cfg, proc->cfg))
		orr_fatal("out of memory for the configuration");
	proc->cfg = &k->cfg;
	if (before)
		leave(before);
	return &k->cfg;
}

void orr_config_share(struct orr_process *proc)
{
	struct orr_kept_config *own = (struct orr_kept_config *) orr_config_own(proc), *k = shared;

	if (own == &orr_lasting_config)
		return;
	while (k && !orr_config_equal(&k->cfg, &own->cfg))
		k = k->next;
	if (k) {
		leave(own);
	} else {
		k = own;
		k->next = shared;
		shared = k;
	}
	k->users++;
	proc->cfg = &k->cfg;
}

void orr_config_end(struct orr_process *proc)
{
	struct orr_kept_config *k = (struct orr_kept_config *) proc->cfg;

	if (proc->cfg == &orr_no_config)
		return;
	orr_assert(k != &orr_lasting_config);
	proc->cfg = &orr_no_config;
	leave(k);
}
