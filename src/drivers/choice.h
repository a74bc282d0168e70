/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The choice among the devices of one kind.
 *
 * Invariant: no device is chosen twice. */
#ifndef ORR_DRIVERS_CHOICE_H
#define ORR_DRIVERS_CHOICE_H

#include "base/process.h"

/* The names of the devices that the program or its user wants: the list of a variable, NULL: unset;
 * the field of starpu_conf, NULL: it does not count. */
struct orr_choice {
	const char *kind, *variable, *list, *field_name;
	const unsigned *field;
};

/* Puts into id the numbers of those of the n devices that are wanted, at most max, in the order in
 * which they are named; the first ones if none is. Warns of names that no device has. Returns how
 * many, or -errno after a message. */
int orr_devices_choose(const struct orr_process *proc, const struct orr_choice *c, unsigned n,
		       unsigned *id, unsigned max);

#endif
