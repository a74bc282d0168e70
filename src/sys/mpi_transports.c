/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The choice of transports in the real world (see mpi_transports.h).
 *
 * Invariant: all ranks read the same words in ORRERY_TRANSPORT, so that all of them take part in
 * the same questions. */
#include "sys/mpi_transports.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"

enum { SHM = 1, UCX = 2, SHM_BY_NAME = 4 };

static const struct {
	const char *name;
	int bits;
} words[] = { { "auto", SHM }, { "shm", SHM | SHM_BY_NAME }, { "ucx", UCX }, { "mpi", 0 } };

/* The bits of one word of n characters, or -EINVAL after a message. */
static int bits_of(const char *word, size_t n)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strlen(words[i].name) == n && !memcmp(words[i].name, word, n))
			return words[i].bits;
	orr_error(
		"ORRERY_TRANSPORT: there is no transport '%.*s'; the names are shm, ucx, mpi and auto, separated by commas",
		(int) n, word);
	return -EINVAL;
}

/* Bits of all words of the variable, or -EINVAL after a message. */
static int wanted(void)
{
	const char *text = getenv("ORRERY_TRANSPORT");
	int bits = 0;

	if (!text || !*text)
		return SHM;
	while (*text) {
		size_t n = strcspn(text, ",");
		int more = bits_of(text, n);
		if (more < 0)
			return more;
		bits |= more;
		text += n + (text[n] == ',');
	}
	return bits;
}

static const struct orr_transport *base(void)
{
	const struct orr_transport *ucx = orr_real_ucx_transport();

	return ucx ? ucx : orr_real_mpi_transport();
}

int orr_real_transports_init(MPI_Comm comm, int rank, int size)
{
	int bits = wanted(), ret = 0;

	if (bits < 0)
		return bits;
	if (bits & UCX)
		ret = orr_real_ucx_init(comm, rank, size);
	if (!ret && bits & SHM)
		orr_real_shm_init(comm, rank, bits & SHM_BY_NAME, base());
	return ret;
}

void orr_real_transports_exit(MPI_Comm comm)
{
	orr_real_shm_exit();
	orr_real_ucx_exit(comm);
}

const struct orr_transport *orr_sys_mpi_transport(struct orr_process *proc)
{
	const struct orr_transport *shm = orr_real_shm_transport();

	(void) proc;
	return shm ? shm : base();
}
