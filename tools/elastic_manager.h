/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Resource managers of an elastic run, each a connection that says lines and gets one back for
 * each.
 *
 * Invariant: a line that is not understood changes nothing. */
#ifndef ORR_TOOLS_ELASTIC_MANAGER_H
#define ORR_TOOLS_ELASTIC_MANAGER_H

#include "elastic_peers.h"

/* Takes a connection at the managers' door. */
void orr_manager_enter(struct orr_peers *p);
/* Takes what has come on such a connection. */
void orr_manager_serve(struct orr_peers *p, int at);
/* Obeys the lines of the script whose time has come. */
void orr_manager_follow(struct orr_peers *p);

#endif
