/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The choice among the devices of one kind (see choice.h). */
#include "drivers/choice.h"

#include <stdlib.h>

#include "base/ids.h"
#include "base/log.h"

static int has(const unsigned *id, unsigned n, unsigned one)
{
	for (unsigned i = 0; i < n; i++)
		if (id[i] == one)
			return 1;
	return 0;
}

int orr_devices_choose(const struct orr_process *proc, const struct orr_choice *c, unsigned n,
		       unsigned *id, unsigned max)
{
	int first = c->field && proc->conf->precedence_over_environment_variables;
	unsigned nlisted = 0, k = 0;
	int *list = NULL;
	int ret = c->list && !first ? orr_ids_parse(c->variable, c->list, n, &list, &nlisted) : 0;

	if (ret)
		return ret;
	for (unsigned i = 0, asked = nlisted ? nlisted : n; i < asked && k < max; i++) {
		unsigned one = nlisted ? (unsigned) list[i] : c->field ? c->field[i] : i;

		if (one >= n)
			orr_warn("%s: there is no %s device %u, there are %u",
				 nlisted ? c->variable : c->field_name, c->kind, one, n);
		else if (!has(id, k, one))
			id[k++] = one;
	}
	free(list);
	return (int) k;
}
