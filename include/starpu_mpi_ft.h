/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checkpoints of distributed data, and restart from them (handbook 14.22).
 *
 * A template names what a checkpoint saves: data, and variables of the program of which each rank
 * has its own. All ranks make the same templates with the same entries in the same order, and
 * submit the same checkpoints at the same places among their tasks. A checkpoint then is one cut
 * through the program: each datum is saved as the tasks that were submitted before leave it, while
 * later tasks go on. Every datum goes to the rank that the template names as its backup. If the
 * variable ORRERY_CHECKPOINT_DIR names a folder, the owner and the backup rank also write it there,
 * each to a file of its own; only then can a program be started again from a checkpoint. A
 * checkpoint counts when all ranks have saved it; the one before is removed then.
 *
 * Functions return 0, or a negative error code after a message. They are called by the thread that
 * submits tasks.
 *
 * Invariant: either all ranks restore the same checkpoint, or none restores any.
 */
#ifndef STARPU_MPI_FT_H
#define STARPU_MPI_FT_H

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* A list of the data that a checkpoint saves; opaque. Lives until starpu_mpi_checkpoint_shutdown().
 */
typedef struct _starpu_mpi_checkpoint_template *starpu_mpi_checkpoint_template_t;

/* Start checkpoints, after starpu_mpi_init(), and end them, before starpu_mpi_shutdown(), on all
 * ranks. The end waits for the tasks and communications of all ranks, and removes the files: the
 * program needs no restart. -EALREADY: started before. */
int starpu_mpi_checkpoint_init(void);
int starpu_mpi_checkpoint_shutdown(void);

/* Make a template: at once, from entries that end with 0, or empty, to be filled entry by entry and
 * then frozen. cp_id is its number in domain cp_domain; no two templates have the same. An entry is
 *     STARPU_R, starpu_data_handle_t, int backup_rank
 *         a datum, which may be NULL on ranks that are neither its owner nor its backup;
 *     STARPU_VALUE, void *ptr, int size, starpu_mpi_tag_t tag, int (*backup_of)(int rank)
 *         size bytes at ptr, of each rank; backup_of gives the backup of a rank.
 * A backup rank that is the owner itself means no copy. Data keep their entries when they migrate.
 * -EINVAL: another kind of entry, a rank that does not exist, a number that is taken. */
int starpu_mpi_checkpoint_template_register(starpu_mpi_checkpoint_template_t *cp_template,
					    int cp_id, int cp_domain, ...);
int starpu_mpi_checkpoint_template_create(starpu_mpi_checkpoint_template_t *cp_template, int cp_id,
					  int cp_domain);
int starpu_mpi_checkpoint_template_add_entry(starpu_mpi_checkpoint_template_t *cp_template, ...);
int starpu_mpi_checkpoint_template_freeze(starpu_mpi_checkpoint_template_t *cp_template);

/* Submit a checkpoint: values are copied now, data when the tasks submitted before are done with
 * them. Does not wait. prio: of the tasks that write and the messages. */
int starpu_mpi_checkpoint_template_submit(starpu_mpi_checkpoint_template_t cp_template, int prio);
/* Print a template on standard output. */
int starpu_mpi_checkpoint_template_print(starpu_mpi_checkpoint_template_t cp_template);

/* After _off, starpu_mpi_checkpoint_template_submit() saves nothing and returns 0, until _on. The
 * same calls at the same places on all ranks. */
int starpu_mpi_ft_turn_on(void);
int starpu_mpi_ft_turn_off(void);

/* Beyond StarPU: take everything that the template names back from the last complete checkpoint of
 * an earlier run, in the folder ORRERY_CHECKPOINT_DIR. Blocking, on all ranks, after the template
 * is frozen and its data have their owners, and before its first checkpoint. Returns the number of
 * the checkpoint (the first one is 1), or 0 if there is none: the program starts from the
 * beginning. A rank whose files are gone gets its data from its backup ranks; -ENODATA: these have
 * lost theirs, too. `orrery run --restart` starts a program again after the loss of a rank. */
int orrery_mpi_restore(starpu_mpi_checkpoint_template_t cp_template);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
