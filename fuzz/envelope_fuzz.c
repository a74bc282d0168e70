/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages between ranks. The first byte of the input is the number of ranks less one, the second
 * the receiver, the third the rank that the message comes from; the rest is the message.
 *
 * A message is either refused with a word, or its parts lie within its bytes and name ranks that
 * exist. Parts that are put together again are the message. */
#include <string.h>
#include "mpi/carry/message_parse.h"
#include "fuzz.h"

/* The message that these parts make, in the order in which they travel. */
static void put_together(const struct orr_mpi_message *m, const char *message)
{
	size_t at = sizeof(m->env);

	MUST(!memcmp(message, &m->env, at));
	if (m->env.flags & ORR_MPI_ROUTED) {
		MUST(!memcmp(message + at, &m->route, sizeof(m->route)));
		at += sizeof(m->route);
		MUST((const char *) m->hops == message + at);
		at += m->route.n * sizeof(*m->hops);
	}
	MUST(m->payload == message + at);
	MUST(at + (m->env.flags & ORR_MPI_EAGER ? m->env.size : 0) == m->bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct orr_mpi_message m;
	struct orr_mpi_receiver me;

	if (size < 3)
		return 0;
	me.size = data[0] + 1;
	me.rank = data[1] % me.size;
	int via = data[2];
	data += 3;
	size -= 3;
	char *message = malloc(size ? size : 1);
	MUST(message);
	memcpy(message, data, size);
	const char *wrong = orr_mpi_message_parse(&m, message, size, via, &me);
	MUST(!wrong || *wrong);
	if (!wrong) {
		MUST(via < me.size && m.origin >= 0 && m.origin < me.size && m.bytes == size);
		put_together(&m, message);
		for (unsigned i = 0; m.env.flags & ORR_MPI_ROUTED && i < m.route.n; i++) {
			struct orr_mpi_hop hop;

			memcpy(&hop, m.hops + i, sizeof(hop));
			MUST(hop.rank >= 0 && hop.rank < me.size && (i || hop.rank == me.rank));
		}
	}
	free(message);
	return 0;
}
