/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checkpoints, inside: templates, one checkpoint of a template (an instance), and its file.
 *
 * Every rank submits the same checkpoints at the same places among its tasks. So each datum is
 * saved with the value that the tasks before that place give it, and all of them are one cut
 * through the program. The owner of a datum writes it to its own file, and sends it to the backup
 * rank, which writes it to another one. An instance is complete when all ranks have closed their
 * files: they tell rank 0, which tells all of them.
 *
 * Invariant: a rank removes its file of an instance only when a later one is complete. So the least
 * of the last instances that ranks find after a failure exists on all ranks that lost no file. */
#ifndef ORR_MPI_CHECKPOINT_H
#define ORR_MPI_CHECKPOINT_H

#include "mpi/carry/layer.h"
#include "starpu_mpi_ft.h"

/* A datum, or a variable of the program of which each rank has its own. */
struct orr_cp_entry {
	starpu_data_handle_t handle; /* of a datum; may be NULL on ranks that do not use it */
	int is_value;
	int backup;  /* of a datum: the rank that keeps a copy; of a value: that of this rank */
	void *ptr;   /* of a value */
	size_t size; /* of a value */
	int64_t tag; /* of a value, as the program named it */
	int (*backup_of)(int rank);
	int *from; /* of a value: the ranks whose backup this rank is, nfrom of them */
	int nfrom;
	starpu_data_handle_t *copies; /* what was received last: one of a datum, nfrom of a value */
};

struct _starpu_mpi_checkpoint_template {
	struct orr_mpi *mpi;
	int id, domain, frozen;
	unsigned n, cap;
	struct orr_cp_entry *v;
	uint32_t submitted; /* number of the last instance */
	uint32_t complete;  /* atomic: of the last one that all ranks have saved */
	uint32_t removed;   /* atomic: files up to this one are gone */
	int marked;         /* atomic: the mark of a rank without files is in the folder */
	struct _starpu_mpi_checkpoint_template *next;
};

/* One checkpoint under way on this rank. */
struct orr_cp_instance {
	struct _starpu_mpi_checkpoint_template *t;
	uint32_t number;
	int32_t left;              /* atomic: records that are not saved */
	int fd;                    /* -1: no file */
	int64_t end;               /* atomic: of the file */
	uint32_t nrecords, failed; /* atomic */
	uint64_t records;          /* atomic: as in the header */
	int32_t acks;              /* atomic, rank 0: ranks that are not done */
	uint64_t saved, sent;      /* atomic: bytes of the values */
	double begun_us;           /* for the trace */
};

/* The program and its arguments, which a checkpoint is of. */
struct orr_cp_identity {
	uint64_t program, arguments;
	char command[160]; /* for people; cut off */
};

/* mpi->guests.checkpoints */
struct orr_checkpoints {
	struct orr_mpi_comm comm; /* all ranks, in a matching context of its own */
	struct _starpu_mpi_checkpoint_template *templates;
	struct starpu_codelet save_cl;
	struct starpu_perfmodel save_model;
	starpu_data_handle_t ack_out, ack_in, done_in, done_out; /* without value */
	int off;                                                 /* starpu_mpi_ft_turn_off() */
	char *dir;       /* NULL: checkpoints are kept in memory only */
	int folder;      /* descriptor of dir, -1: it is opened for each use */
	int lock;        /* descriptor of this rank's lock of the folder, -1: none */
	int any_program; /* ORRERY_CHECKPOINT_ANY_PROGRAM */
	struct orr_cp_identity me;
	double bytes_per_us;
	uint64_t nsubmitted, bytes_sent, bytes_saved; /* atomic */
};

/* checkpoint.c */
/* NULL after a message that says that checkpoints were not started. */
struct orr_checkpoints *orr_cp_get(const char *who);
/* The name of messages about entry k of a template. */
#define ORR_CP_TAG_ENTRIES 3
int64_t orr_cp_tag(const struct _starpu_mpi_checkpoint_template *t, unsigned k);

/* checkpoint_folder.c: descriptors, or 0; -errno after a message if nothing else is said */
/* The folder begins and ends to be in use by this rank; dir "" or NULL: there is none. */
int orr_cp_folder_begin(struct orr_checkpoints *cp, const char *dir, int rank);
void orr_cp_folder_end(struct orr_checkpoints *cp, int rank);
/* The folder, which is this user's; orr_cp_folder_done() takes it back. */
void orr_cp_folder_done(const struct orr_checkpoints *cp, int folder);
int orr_cp_folder(const struct orr_checkpoints *cp);
/* A file in it, which is this user's and no link; with O_CREAT in flags, a new one is. -errno
 * without a message, for which orr_cp_why() has words. */
int orr_cp_file_at(int folder, const char *name, int flags);
const char *orr_cp_why(int ret);

/* checkpoint_file.c: all return 0 or -errno after a message */
struct orr_cp_file_header {
	char magic[8];
	uint32_t rank, size, number, nrecords;
	int32_t id, domain;
	uint64_t shape; /* of the template: the sizes of its data */
	uint64_t program, arguments;
	uint64_t end;     /* of the file */
	uint64_t records; /* the sum of orr_mix64() of the hashes of all records and their places */
	uint64_t sum;     /* of the header, with 0 here */
	char command[160];
};
struct orr_cp_record {
	uint32_t k, source;
	uint64_t size, hash; /* the hash covers the other three and the bytes */
};
/* The content of a file that was found whole. */
struct orr_cp_index {
	int fd; /* -1: none */
	uint32_t n;
	struct orr_cp_place {
		struct orr_cp_record record;
		int64_t at; /* of its bytes */
	} * v;
};
/* The files that this rank finds in the folder. */
struct orr_cp_found {
	uint32_t first, last; /* whole files, 0: none */
	int seen;             /* a file, be it damaged */
	int damaged, foreign; /* files that are not whole, or another program's */
};
uint64_t orr_cp_hash(const void *data, size_t size);
/* True if an earlier run left a mark that this rank came so far as to look for checkpoints, and had
 * saved none; leaves one, which goes away when the first file counts; removes it. */
int orr_cp_file_marked(const struct _starpu_mpi_checkpoint_template *t);
int orr_cp_file_mark(struct _starpu_mpi_checkpoint_template *t);
void orr_cp_file_unmark(const struct _starpu_mpi_checkpoint_template *t);
int orr_cp_file_begin(struct orr_cp_instance *inst);
/* Any thread, several at a time. */
int orr_cp_file_add(struct orr_cp_instance *inst, unsigned k, int source, const void *data,
		    size_t size);
/* Closes the file; from now on it counts, even if the machine fails. */
int orr_cp_file_end(struct orr_cp_instance *inst);
/* Removes this rank's files of instances from..to. */
void orr_cp_file_remove(struct _starpu_mpi_checkpoint_template *t, uint32_t from, uint32_t to);
/* Reads all files of this rank, whole. A message names each that is damaged or another program's.
 */
int orr_cp_file_find(struct _starpu_mpi_checkpoint_template *t, struct orr_cp_found *found);
/* Opens the file of an instance that was found whole. */
int orr_cp_file_open(struct _starpu_mpi_checkpoint_template *t, uint32_t number,
		     struct orr_cp_index *index);
void orr_cp_file_close(struct orr_cp_index *index);
/* The record of that entry and source, or NULL. */
const struct orr_cp_place *orr_cp_file_place(const struct orr_cp_index *index, unsigned k,
					     int source);
/* Its bytes, allocated with malloc(); *size is their number. NULL after a message. */
void *orr_cp_file_get(struct _starpu_mpi_checkpoint_template *t, const struct orr_cp_index *index,
		      unsigned k, int source, size_t *size);

#endif
