/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checkpoints: there are none, and a program that asks for them is told.
 *
 * Invariant: no call reports success, because a program would count on values that nobody saved. */
#include "starpu_mpi_ft.h"
#include "base/log.h"
#include "base/process.h"

#include <errno.h>

/* One message in a process: templates and checkpoints come in loops. */
static int refuse(void)
{
	struct orr_process *proc = orr_self();

	if (!ORR_ATOMIC_XCHG(&proc->told_checkpoints, 1))
		orr_error(
			"there are no checkpoints: all functions of starpu_mpi_ft.h return -ENOSYS; the program has to save its data itself");
	return -ENOSYS;
}

int starpu_mpi_checkpoint_init(void)
{
	return refuse();
}

int starpu_mpi_checkpoint_shutdown(void)
{
	return refuse();
}

int starpu_mpi_checkpoint_template_register(starpu_mpi_checkpoint_template_t *cp_template,
					    int cp_id, int cp_domain, ...)
{
	(void) cp_template;
	(void) cp_id;
	(void) cp_domain;
	return refuse();
}

int starpu_mpi_checkpoint_template_create(starpu_mpi_checkpoint_template_t *cp_template, int cp_id,
					  int cp_domain)
{
	(void) cp_template;
	(void) cp_id;
	(void) cp_domain;
	return refuse();
}

int starpu_mpi_checkpoint_template_add_entry(starpu_mpi_checkpoint_template_t *cp_template, ...)
{
	(void) cp_template;
	return refuse();
}

int starpu_mpi_checkpoint_template_freeze(starpu_mpi_checkpoint_template_t *cp_template)
{
	(void) cp_template;
	return refuse();
}

int starpu_mpi_checkpoint_template_submit(starpu_mpi_checkpoint_template_t cp_template, int prio)
{
	(void) cp_template;
	(void) prio;
	return refuse();
}

int starpu_mpi_checkpoint_template_print(starpu_mpi_checkpoint_template_t cp_template)
{
	(void) cp_template;
	return refuse();
}

int starpu_mpi_ft_turn_on(void)
{
	return refuse();
}

int starpu_mpi_ft_turn_off(void)
{
	return refuse();
}
