/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the disk back ends that keep one file per object in a folder share. */
#ifndef ORR_DRIVERS_DISK_FILE_H
#define ORR_DRIVERS_DISK_FILE_H

#include <stddef.h>
#include "starpu_disk.h"

/* A file; it is opened for each transfer, so that the number of objects is not limited by that of descriptors. */
struct orr_disk_file {
	char *path;
};

void *orr_disk_file_plug(void *parameter, starpu_ssize_t size);
void orr_disk_file_unplug(void *base);
int orr_disk_file_bandwidth(unsigned node, void *base);
void *orr_disk_file_alloc(void *base, size_t size);
void orr_disk_file_free(void *base, void *obj, size_t size);
void *orr_disk_file_open(void *base, void *pos, size_t size);
void orr_disk_file_close(void *base, void *obj, size_t size);
/* The whole object by way of the back end's read. */
int orr_disk_file_full_read(int (*read)(void *, void *, void *, off_t, size_t), void *base, void *obj, void **ptr, size_t *size, unsigned dst_node);

#endif
