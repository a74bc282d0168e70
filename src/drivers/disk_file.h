/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Moving bytes between main memory and a file: the ways in which the disk back ends of disk_file.c
 * do it.
 *
 * Invariant: a function returns 0 when all bytes were moved, or a negative errno; it prints
 * nothing. -ENODATA: the file ends before. */
#ifndef ORR_DRIVERS_DISK_FILE_H
#define ORR_DRIVERS_DISK_FILE_H

#include <stddef.h>
#include <sys/types.h>

enum orr_disk_direction { ORR_DISK_READ, ORR_DISK_WRITE };

typedef int orr_disk_move(const char *path, char *buf, off_t offset, size_t size,
			  enum orr_disk_direction dir);

orr_disk_move orr_disk_move_stdio;  /* the C library's streams */
orr_disk_move orr_disk_move_unistd; /* system calls, through the page cache */
orr_disk_move orr_disk_move_direct; /* past the page cache where offsets allow (O_DIRECT) */
orr_disk_move
	orr_disk_move_dropped; /* through the page cache, out of which the bytes are then dropped */

/* True if the file system of that file, which may be overwritten, takes O_DIRECT. */
int orr_disk_takes_direct(const char *path);

#endif
