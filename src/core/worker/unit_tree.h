/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tree of the machine's processing units (starpu_tree.h), made when somebody asks for it. */
#ifndef ORR_CORE_UNIT_TREE_H
#define ORR_CORE_UNIT_TREE_H

#include "base/process.h"

/* Frees it. */
void orr_unit_tree_exit(struct orr_process *proc);

#endif
