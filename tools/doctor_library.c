/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The libraries that a process of this host has loaded: their paths, and a checksum of the files.
 *
 * Invariant: equal checksums mean equal files, whatever their paths. */
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "doctor_host.h"

static uint64_t checksum(const char *path)
{
	uint64_t h = 0xcbf29ce484222325, word;
	char block[1 << 16];
	size_t n;
	FILE *f = fopen(path, "rb");

	if (!f)
		return 0;
	while ((n = fread(block, 1, sizeof(block), f)) > 0) {
		memset(block + n, 0, -n % sizeof(word));
		for (size_t i = 0; i < n; i += sizeof(word)) {
			memcpy(&word, block + i, sizeof(word));
			h = (h ^ word) * 0x100000001b3;
			h ^= h >> 32;
		}
	}
	fclose(f);
	return h;
}

static int visit(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *name = arg, *file = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	size_t length = strlen(name);

	(void) size;
	if (file && !strncmp(file + 1, name, length) && !strncmp(file + 1 + length, ".so", 3))
		printf("library %s %016llx\n", info->dlpi_name,
		       (unsigned long long) checksum(info->dlpi_name));
	return 0;
}

void doctor_library(const char *name)
{
	dl_iterate_phdr(visit, (void *) name);
}
