/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The loaded models, and their files.
 *
 * Invariant: the list of loaded models is the only state outside of a process: it caches files,
 * which all ranks of a simulated run see alike. */
#ifndef ORR_PERF_MODEL_STORE_H
#define ORR_PERF_MODEL_STORE_H

#include "perf/model.h"

/* The model of a symbol: the first file found in `dirs` (NULL-terminated), else an empty one. With
 * discard the file is not read, and replaced when the model is saved. NULL if memory is exhausted.
 */
struct orr_model *orr_model_acquire(const char *symbol, const char *machine,
				    const char *const *dirs, int discard);
/* A model that nobody else shares. Takes over data. NULL if memory is exhausted. */
struct orr_model *orr_model_private(const char *symbol, struct orr_model_data *data);
void orr_model_release(struct orr_model *m);

/* Path of the first existing file of the symbol in dirs. 0 or -ENOENT. */
int orr_model_locate(const char *symbol, const char *machine, const char *const *dirs, char *path,
		     size_t size);
/* Path of the file that orr_model_save writes. 0 or -ENAMETOOLONG. */
int orr_model_write_path(const char *symbol, const char *machine, const char *dir, char *path,
			 size_t size);
/* Adds what was learnt to the file in `dir`, which other processes may be writing, too. 0, or
 * -errno after a message. */
int orr_model_save(struct orr_model *m, const char *dir);

#endif
