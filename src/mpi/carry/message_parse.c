/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of a message (see message_parse.h). */
#include "mpi/carry/message_parse.h"

#include <string.h>

#define KNOWN (ORR_MPI_EAGER | ORR_MPI_SYNC | ORR_MPI_ROUTED | ORR_MPI_PLAN | ORR_MPI_OF_DEVICE)

static int is_rank(int rank, const struct orr_mpi_receiver *me)
{
	return rank >= 0 && rank < me->size;
}

/* The route; `left` bytes follow the envelope. Moves the payload behind it. */
static const char *parse_route(struct orr_mpi_message *m, size_t left,
			       const struct orr_mpi_receiver *me)
{
	struct orr_mpi_hop hop;

	if (left < sizeof(m->route))
		return "its route is cut off";
	memcpy(&m->route, m->payload, sizeof(m->route));
	m->hops = (const struct orr_mpi_hop *) (m->payload + sizeof(m->route));
	left -= sizeof(m->route);
	if (!m->route.n || m->route.n > ORR_MPI_ROUTE_MAX)
		return "its route has no rank, or too many";
	if (left / sizeof(hop) < m->route.n)
		return "its route is cut off";
	if (!is_rank(m->route.origin, me))
		return "its origin is no rank";
	for (unsigned i = 0; i < m->route.n; i++) {
		memcpy(&hop, m->hops + i, sizeof(hop));
		if (!is_rank(hop.rank, me) || (!i && hop.rank != me->rank))
			return "its route does not lead here";
	}
	if (!(m->env.flags & ORR_MPI_EAGER) && m->env.size && !m->route.piece)
		return "its pieces are empty";
	m->payload = (const char *) (m->hops + m->route.n);
	m->origin = m->route.origin;
	return NULL;
}

const char *orr_mpi_message_parse(struct orr_mpi_message *m, const char *message, size_t bytes,
				  int via, const struct orr_mpi_receiver *me)
{
	const char *wrong = NULL;

	*m = (struct orr_mpi_message){ .origin = via, .bytes = bytes };
	if (bytes < sizeof(m->env))
		return "its envelope is cut off";
	memcpy(&m->env, message, sizeof(m->env));
	m->payload = message + sizeof(m->env);
	if (m->env.flags & ~(uint32_t) KNOWN)
		return "its kind is unknown";
	if (!is_rank(via, me))
		return "its sender is no rank";
	if (m->env.flags & ORR_MPI_ROUTED)
		wrong = parse_route(m, bytes - sizeof(m->env), me);
	else if (m->env.flags & ORR_MPI_PLAN)
		return "it is a plan without route";
	if (wrong)
		return wrong;
	size_t left = bytes - (size_t) (m->payload - message);
	if (left != (m->env.flags & ORR_MPI_EAGER ? m->env.size : 0))
		return "its payload has another size than it says";
	if (!(m->env.flags & ORR_MPI_EAGER) && m->env.data_tag < 0)
		return "its payload has no tag";
	return NULL;
}
