/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every private name of SimGrid that we use: classes and variables without an installed header,
 * and the functions that we interpose. doc/leaning.md says what each use assumes. What differs
 * between releases is in a file for each range of them: simgrid_3_32.h, simgrid_4_0.h.
 *
 * configure links a program with all of them (build-aux/simgrid_probe.cpp); the launcher tests at
 * its start what a linker cannot see (sim/launcher/guard.cpp).
 *
 * Invariant: no other file declares a name of SimGrid. A class here has only the members that we
 * use, so nobody may ask for its size. */
#ifndef ORR_SIMGRID_PRIVATE_H
#define ORR_SIMGRID_PRIVATE_H

#include <simgrid/forward.h>
#include <simgrid/version.h>

/* A release that no file knows (--enable-any-simgrid) is taken for the nearest one. */
#if SIMGRID_VERSION_MAJOR < 4
#include "simgrid_3_32.h"
#else
#include "simgrid_4_0.h"
#endif

/* ---- functions that the launcher's executable takes the place of ---- */

/* EngineImpl::solve(double) const and EngineImpl::handle_ended_actions() const, which the main
 * loop calls; Context::set_current(Context *), called when actors change;
 * FutureEvtSet::add_event(double, Event *), called for each change that a profile asks for. */
#define ORR_SIMGRID_SOLVE "_ZNK7simgrid6kernel10EngineImpl5solveEd"
#define ORR_SIMGRID_END_ACTIONS "_ZNK7simgrid6kernel10EngineImpl20handle_ended_actionsEv"
#define ORR_SIMGRID_SET_CURRENT "_ZN7simgrid6kernel7context7Context11set_currentEPS2_"
/* The actor that runs: Context::self(), for SimGrid itself; s4u::Actor::self(),
 * this_actor::get_pid() and sg_host_self(), for SMPI. */
#define ORR_SIMGRID_SELF "_ZN7simgrid6kernel7context7Context4selfEv"
#define ORR_SIMGRID_ACTOR_SELF "_ZN7simgrid3s4u5Actor4selfEv"
#define ORR_SIMGRID_GET_PID "_ZN7simgrid3s4u10this_actor7get_pidEv"
#define ORR_SIMGRID_HOST_SELF "sg_host_self"
/* CommImpl::isend(CommIsendSimcall *), called for each message that is sent; CommImpl::start(),
 * called when a side of a message is there. The function that is called when a message has ended is
 * in the file of the release. */
#define ORR_SIMGRID_ISEND \
	"_ZN7simgrid6kernel8activity8CommImpl5isendEPNS0_5actor16CommIsendSimcallE"
#define ORR_SIMGRID_COMM_START "_ZN7simgrid6kernel8activity8CommImpl5startEv"
/* Comm::init_smp(), Comm::get_intra_comm() and Comm::get_leaders_map(), of collective operations.
 */
#define ORR_SIMGRID_INIT_SMP "_ZN7simgrid4smpi4Comm8init_smpEv"
#define ORR_SIMGRID_INTRA_COMM "_ZNK7simgrid4smpi4Comm14get_intra_commEv"
#define ORR_SIMGRID_LEADERS_MAP "_ZNK7simgrid4smpi4Comm15get_leaders_mapEv"
/* reduce__ompi_binary() and reduce__ompi_basic_linear(), two algorithms of MPI_Reduce(). */
#define ORR_SIMGRID_REDUCE_BINARY \
	"_ZN7simgrid4smpi19reduce__ompi_binaryEPKvPviPNS0_8DatatypeEPNS0_2OpEiPNS0_4CommE"
#define ORR_SIMGRID_REDUCE_LINEAR \
	"_ZN7simgrid4smpi25reduce__ompi_basic_linearEPKvPviPNS0_8DatatypeEPNS0_2OpEiPNS0_4CommE"
#define ORR_SIMGRID_ADD_EVENT "_ZN7simgrid6kernel7profile12FutureEvtSet9add_eventEdPNS1_5EventE"

/* SMPI's functions are found in the library. */
#define ORR_SIMGRID_MPI_AT interpose_library

/* The seconds by which dates of SimGrid's may differ and mean the same. */
#define ORR_SIMGRID_PRECISION "surf/precision:1e-9"

/* ---- functions for these (sim/launcher/table.h) ---- */

#define ORR_SIM_CALLS_FOR_SIMGRID(CALL) \
	CALL(orrery_sim_access) \
	CALL(orrery_sim_advance) \
	CALL(orrery_sim_comm_end) \
	CALL(orrery_sim_comm_start) \
	CALL(orrery_sim_flat_firsts) \
	CALL(orrery_sim_flat_node) \
	CALL(orrery_sim_flat_nodes) \
	CALL(orrery_sim_is_single) \
	CALL(orrery_sim_isend) \
	CALL(orrery_sim_profiles) \
	CALL(orrery_sim_round_ended)

/* ---- variables ---- */

/* EngineImpl::now_, virtual time. */
#define ORR_SIMGRID_NOW "_ZN7simgrid6kernel10EngineImpl4now_E"

#ifdef __cplusplus
#include <cstddef>
#include <memory>
#include <smpi/smpi.h>
#include <simgrid/kernel/resource/Action.hpp>
#include <simgrid/s4u.hpp>

/* The room that we allocate for a smpi::Comm, which has about 300 bytes. */
static constexpr std::size_t ORR_SIMGRID_COMM_ROOM = 1024;

namespace simgrid
{
namespace smpi
{
class ActorExt
{
      public:
	static simgrid::xbt::Extension<simgrid::s4u::Actor, ActorExt> EXTENSION_ID;
	static void init();
	MPI_Comm comm_world() const;
	void mark_as_initialized();
};
class Group
{
      public:
	void set_mapping(long pid, int rank);
	long actor(int rank) const;
	void ref();
};
class Topo;
class Comm
{
      public:
	Comm(MPI_Group group, std::shared_ptr<Topo> topo, bool smp, int id);
	void ref();
	static void unref(Comm *comm);
	void init_smp();
	void set_leaders_comm(Comm *leaders);
	Comm *get_leaders_comm() const;
	Comm *get_intra_comm() const;
	int *get_leaders_map() const;
};
} // namespace smpi

namespace kernel
{
namespace context
{
class Context
{
      public:
	static Context *self();
};
class SwappedContext
{
      public:
	void resume();
};
} // namespace context
namespace actor
{
class ActorImpl
{
      public:
	void yield();
	void simcall_handle(int times_considered);
	void cleanup_from_kernel();
};
} // namespace actor
namespace activity
{
class CommImpl;
class MailboxImpl; /* begins with its s4u::Mailbox */
} // namespace activity
namespace actor
{
class CommIsendSimcall
{
	[[maybe_unused]] void *functions_; /* virtual ones */

      public:
	ActorImpl *issuer_;
	activity::MailboxImpl *mbox_;
	double payload_size_;

      private:
	[[maybe_unused]] double rate_;
	[[maybe_unused]] unsigned char *src_buff_;
	[[maybe_unused]] std::size_t src_buff_size_;
	[[maybe_unused]] void *payload_;

      public:
	bool detached_;
	activity::CommImpl *comm_;
};
} // namespace actor
namespace resource
{
class NetworkAction : public Action
{
      public:
	s4u::Host *src_, *dst_; /* references there */
	double latency_, lat_current_;
	double sharing_penalty_;
};
} // namespace resource
class EngineImpl
{
      public:
	void add_actor_to_run_list_no_check(actor::ActorImpl *actor);
};
namespace profile
{
class FutureEvtSet
{
      public:
	double next_date() const;
};
} // namespace profile
} // namespace kernel
} // namespace simgrid
#endif
#endif
