/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checkpoints of distributed data (handbook 14.22). This build has no
 * checkpoint support: every call succeeds and does nothing, so that programs
 * written for it compile and run.
 *
 * Invariant: no call here changes any state or evaluates what it is given.
 */
#ifndef STARPU_MPI_FT_H
#define STARPU_MPI_FT_H

#ifdef __cplusplus
extern "C" {
#endif

/* Describes what a checkpoint saves; opaque. */
typedef struct _starpu_mpi_checkpoint_template *starpu_mpi_checkpoint_template_t;

/* Between starpu_mpi_init_conf() and starpu_mpi_shutdown(). */
static inline int starpu_mpi_checkpoint_init(void)
{
	return 0;
}

static inline int starpu_mpi_checkpoint_shutdown(void)
{
	return 0;
}

/*
 * Create a template and its entries at once, or entry by entry and then freeze
 * it. Entries: STARPU_R, handle, int backup_rank; STARPU_VALUE, void *ptr, size,
 * starpu_mpi_tag_t tag, int (*backup_of)(int rank). _register ends with 0.
 */
static inline int starpu_mpi_checkpoint_template_register(
	starpu_mpi_checkpoint_template_t *cp_template, int cp_id, int cp_domain, ...)
{
	(void) cp_template;
	(void) cp_id;
	(void) cp_domain;
	return 0;
}

static inline int starpu_mpi_checkpoint_template_create(
	starpu_mpi_checkpoint_template_t *cp_template, int cp_id, int cp_domain)
{
	(void) cp_template;
	(void) cp_id;
	(void) cp_domain;
	return 0;
}

static inline int starpu_mpi_checkpoint_template_add_entry(
	starpu_mpi_checkpoint_template_t *cp_template, ...)
{
	(void) cp_template;
	return 0;
}

static inline int starpu_mpi_checkpoint_template_freeze(
	starpu_mpi_checkpoint_template_t *cp_template)
{
	(void) cp_template;
	return 0;
}

/* Save what the template names, ordered after the tasks submitted so far. */
static inline int starpu_mpi_checkpoint_template_submit(
	starpu_mpi_checkpoint_template_t cp_template, int prio)
{
	(void) cp_template;
	(void) prio;
	return 0;
}

static inline int starpu_mpi_checkpoint_template_print(starpu_mpi_checkpoint_template_t cp_template)
{
	(void) cp_template;
	return 0;
}

/* Pause and resume the recording of messages that checkpoints need. */
static inline int starpu_mpi_ft_turn_on(void)
{
	return 0;
}

static inline int starpu_mpi_ft_turn_off(void)
{
	return 0;
}

#ifdef __cplusplus
}
#endif
#endif
