/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checkpoints of distributed data (handbook 14.22). Orrery has none: each function returns -ENOSYS,
 * and the first call in a process prints a message that says so. Programs for which checkpoints
 * are optional compile and run, and they can test for support.
 *
 * Invariant: no call here changes any state or looks at its arguments.
 */
#ifndef STARPU_MPI_FT_H
#define STARPU_MPI_FT_H

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Describes what a checkpoint would save; opaque, and never set. */
typedef struct _starpu_mpi_checkpoint_template *starpu_mpi_checkpoint_template_t;

/* All: any thread, at any time; -ENOSYS. */

/* Would start and end the support for checkpoints. */
int starpu_mpi_checkpoint_init(void);
int starpu_mpi_checkpoint_shutdown(void);
/* Would make a template, at once or entry by entry: STARPU_R, handle, int backup_rank;
 * STARPU_VALUE, void *ptr, size_t size, starpu_mpi_tag_t tag, int (*backup_of)(int rank). The
 * arguments of _register end with 0. *cp_template stays as it is. */
int starpu_mpi_checkpoint_template_register(starpu_mpi_checkpoint_template_t *cp_template,
					    int cp_id, int cp_domain, ...);
int starpu_mpi_checkpoint_template_create(starpu_mpi_checkpoint_template_t *cp_template, int cp_id,
					  int cp_domain);
int starpu_mpi_checkpoint_template_add_entry(starpu_mpi_checkpoint_template_t *cp_template, ...);
int starpu_mpi_checkpoint_template_freeze(starpu_mpi_checkpoint_template_t *cp_template);
/* Would save what the template names, after the tasks submitted so far. */
int starpu_mpi_checkpoint_template_submit(starpu_mpi_checkpoint_template_t cp_template, int prio);
int starpu_mpi_checkpoint_template_print(starpu_mpi_checkpoint_template_t cp_template);
/* Would resume and pause the recording of messages that a restart needs. */
int starpu_mpi_ft_turn_on(void);
int starpu_mpi_ft_turn_off(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
