/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Configurations that processes share (shared_conf.h).
 *
 * Invariant: the list has those that are shared, with as many users as processes that point to
 * them; no two of them are equal. */
#include "start/shared_conf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

struct kept {
	struct starpu_conf conf; /* first: a process points to it */
	struct kept *next;       /* of those that are shared */
	unsigned users;          /* 0: it is a process's own */
};

static struct kept *shared;
struct starpu_conf orr_no_conf;

int orr_conf_begin(struct orr_process *proc, const struct starpu_conf *conf)
{
	struct kept *k = calloc(1, sizeof(*k));

	if (!k)
		return -ENOMEM;
	if (conf)
		k->conf = *conf;
	else
		starpu_conf_init(&k->conf);
	orr_conf_end(proc);
	proc->conf = &k->conf;
	return 0;
}

void orr_conf_share(struct orr_process *proc)
{
	struct kept *own = (struct kept *) proc->conf, *k = shared;

	orr_assert(proc->conf != &orr_no_conf && !own->users);
	while (k && memcmp(&k->conf, &own->conf, sizeof(k->conf)))
		k = k->next;
	if (k) {
		free(own);
	} else {
		k = own;
		k->next = shared;
		shared = k;
	}
	k->users++;
	proc->conf = &k->conf;
}

void orr_conf_end(struct orr_process *proc)
{
	struct kept *k = (struct kept *) proc->conf, **at = &shared;

	if (proc->conf == &orr_no_conf)
		return;
	proc->conf = &orr_no_conf;
	if (k->users && --k->users)
		return;
	while (*at && *at != k)
		at = &(*at)->next;
	if (*at)
		*at = k->next;
	free(k);
}
