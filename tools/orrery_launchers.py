# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The programs that start the ranks of a run, and what they differ in: options that place ranks and
# name hosts, host files, the words and the status of a run that lost a rank, root, elastic runs.
# `orrery run`, `orrery calibrate` and the tests take all of that from the table at the end.
# Invariant: nothing else in the tools knows the name of a launcher's option. What a launcher cannot
# do is None here, with the reason, and the command that needs it refuses.
import os
import re
import shutil
import subprocess

from orrery_cli import UserError

ASK_S = 5  # a launcher that does not tell its version in this time is taken for the one of configure


class Launcher:
    """One row of the table; names and order of the fields are those of the constructor."""

    def __init__(self, name, package, files, version, crowd, unbound, bound, core_each, placing, hosts, host_files, slots, exports,
                 lost, lost_in_output, broken, closed, folder, signal_status, asks_root, refuses_root, elastic, no_elastic, daemons=None, own_daemons=None):
        self.name, self.package = name, package
        self.files = files  # what the program itself is called, behind all links
        self.version = re.compile(version)  # of the first lines of --version
        self.crowd = crowd  # options: more ranks than cores
        self.unbound = unbound  # options: ranks are not bound
        self.bound = bound  # cores of a rank -> options that bind each rank to as many of its own
        self.core_each = core_each  # options: a core for each rank, one after another
        self.placing = re.compile(placing)  # options of users that place ranks or say what counts as a core
        self.hosts, self.host_files = hosts, host_files  # options that name hosts, and files of hosts; the first one is given by us
        self.exports = exports  # the option that takes a variable to other hosts, None: all are taken there
        self.slots = re.compile(slots)  # of a line of a host file: the ranks that the host takes
        self.lost = re.compile(lost, re.DOTALL)  # what is said about a rank that a signal ended: rank, host, signal, name
        self.lost_in_output = lost_in_output  # on standard output
        self.closed = closed and re.compile(closed, re.DOTALL)  # what MPI says in a rank whose connection to a host was closed there: host, if that is said; None: nothing
        self.broken = broken and re.compile(broken, re.DOTALL)  # what is said when the connection to a host ended: host, if that is said
        self.folder = folder  # (host, user) -> the folder of its runs in that of temporary files, each in pid.N; None: another place
        self.signal_status = signal_status  # its status after a signal is the number alone, not 128 more
        self.asks_root = asks_root  # variables by which root says that it means it
        self.refuses_root = refuses_root and re.compile(refuses_root)  # what it says to root otherwise, None: nothing
        self.elastic, self.no_elastic = elastic, no_elastic  # options for processes that come and go, or the reason against
        self.daemons = daemons  # variables -> options by which its daemons on other hosts get them, None: they get all
        self.own_daemons = own_daemons and re.compile(own_daemons)  # options and variables of users that say how daemons start

    def places(self, words):
        """Whether options of the launcher place ranks themselves."""
        return any(self.placing.match(word) for word in words)

    def crowded(self):
        """Options for ranks that share cores."""
        return self.crowd + self.unbound


# Options that place ranks: of Open MPI in all its releases, and of Hydra.
_OPEN_MPI_PLACING = (r"--?(map-by|bind-to|rank-by|.*host.*|H|.*machinefile|rankfile|rf|ppr|N|n?pernode|npersocket|cpus?-(set|list|per-.*)|"
                     r"slot-list|by(node|slot|socket|core|board)|nolocal|loadbalance|use-hwthread.*|app|am|tune)(=.*)?$|rmaps|hwloc_base|orte_.*host")
_HYDRA_PLACING = r"--?(map-by|bind-to|membind|ppn|perhost|hosts?|f|hostfile|machinefile|machine|configfile|rr|order-nodes|skip-launch-node|gpus-per-proc)(=.*)?$"

_OPEN_MPI_FILES = ("--hostfile", "-hostfile", "--machinefile", "-machinefile", "--default-hostfile", "-default-hostfile")
_OPEN_MPI_LOST = (rb"process\s+rank\s+(?P<rank>\d+)\s+with\s+PID\s+\d+\s+on\s+node\s+(?P<host>\S+)\s+exited\s+on\s+signal\s+(?P<signal>\d+)"
                  rb"(?:\s+\((?P<name>[^)]*)\))?")  # version 5 wraps lines
_OPEN_MPI_CLOSED = (rb"peer process has unexpectedly disconnected\..*?Peer host: +(?P<host>\S+)|"
                    rb"\*\*\* An error occurred in Socket closed")  # version 5, which does not say whose
_OPEN_MPI_BROKEN = (rb"(?:ORTE|PRTE) has lost communication with a remote daemon\..*?Remote daemon: +\S+ on node (?P<host>\S+)|"
                    rb"(?:ORTE|PRTE) was unable to reliably start one or more daemons\.")
_OPEN_MPI_ROOT = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "PRTE_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM")

_OPEN_MPI = {
    "package": "openmpi-bin",
    "unbound": ["--bind-to", "none"],
    "bound": lambda cores: ["--map-by", "slot:PE=%d" % cores, "--bind-to", "core"],
    "core_each": ["--map-by", "core", "--bind-to", "core"],
    "placing": _OPEN_MPI_PLACING,
    "hosts": ("--host", "-host", "-H", "--H"), "host_files": _OPEN_MPI_FILES, "slots": r"\bslots\s*=\s*(\d+)", "exports": "-x",
    "lost": _OPEN_MPI_LOST, "lost_in_output": False, "broken": _OPEN_MPI_BROKEN, "closed": _OPEN_MPI_CLOSED, "signal_status": False,
    "asks_root": _OPEN_MPI_ROOT, "refuses_root": rb"attempt to run as root|as the root user",
}

OPEN_MPI_4 = Launcher(
    name="Open MPI", files=("orterun",), version=r"mpi(run|exec) \(Open MPI\) [1-4]\.", crowd=["--oversubscribe"],
    # processes end without the others, and one that dies may leave the others alone
    folder=lambda host, user: "ompi.%s.%d" % (host.partition(".")[0], user),
    elastic=["--mca", "orte_allowed_exit_without_sync", "1", "--mca", "orte_enable_recovery", "1", "-x", "ORRERY_DYN_SERVER"],
    no_elastic=None,
    daemons=lambda variables: ["--mca", "orte_launch_agent", " ".join(["env"] + ["%s=%s" % item for item in variables] + ["orted"])],
    own_daemons=r"--?launch-agent(=|$)|(OMPI_MCA_)?orte_launch_agent$", **_OPEN_MPI)
OPEN_MPI_5 = Launcher(
    name="Open MPI 5 and later", files=("prterun", "prun"), version=r"mpi(run|exec) \(Open MPI\)|prte(run)? \(", crowd=["--map-by", ":OVERSUBSCRIBE"],
    folder=None, elastic=None,
    no_elastic="with Open MPI 5, processes that come and go have not been made to work; use Open MPI 4.1, or run with a fixed number of ranks",
    **_OPEN_MPI)
HYDRA = Launcher(
    name="MPICH", package="mpich", files=("mpiexec.hydra", "mpiexec.mpich", "mpirun.mpich"), version=r"HYDRA|Intel\(R\) MPI|mpiexec.*MVAPICH",
    crowd=[],  # it starts as many ranks as it is told to
    unbound=["-bind-to", "none"], bound=lambda cores: ["-bind-to", "core:%d" % cores], core_each=["-bind-to", "core"],
    placing=_HYDRA_PLACING,
    hosts=("-hosts", "--hosts", "-host", "--host"), host_files=("-f", "--f", "-hostfile", "--hostfile", "-machinefile", "--machinefile"),
    slots=r"^\S+?:(\d+)", exports=None,
    lost=rb"(?P<rank>)RUNNING AT (?P<host>\S+).*EXIT STRING: (?P<name>[^\n]*?) \(signal (?P<signal>\d+)\)", lost_in_output=True, broken=None, closed=None, folder=None,
    signal_status=True,
    asks_root=(), refuses_root=None,
    elastic=None, no_elastic="MPICH's mpiexec ends all processes when one leaves, so processes cannot come and go; use an Orrery built with Open MPI 4.1, "
                             "or run with a fixed number of ranks")
TABLE = (OPEN_MPI_4, OPEN_MPI_5, HYDRA)


def _version(path):
    try:
        return subprocess.run([path, "--version"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              timeout=ASK_S, check=False).stdout[:4096].decode(errors="replace")
    except (OSError, subprocess.TimeoutExpired):
        return ""


def launcher_of(path, library):
    """The row of a launcher; one that does not say what it is counts as that of the library, the name of an MPI that
    configure has found."""
    name = os.path.basename(os.path.realpath(path))
    for row in TABLE:
        if name in row.files:
            return row
    text = _version(path)
    for row in TABLE:
        if row.version.search(text):
            return row
    return HYDRA if library == "mpich" else OPEN_MPI_5 if library == "openmpi5" else OPEN_MPI_4


def find(context):
    """(command, row) of the launcher: the one that ORRERY_MPIRUN names, or that of configure."""
    command = os.environ.get("ORRERY_MPIRUN") or context.settings["mpiexec"] or "mpirun"
    path = shutil.which(command)
    if not path:
        package = HYDRA.package if context.settings["mpi_library"] == "mpich" else OPEN_MPI_4.package
        raise UserError("%s is not there; install the MPI that Orrery was built with (Debian: %s) or set ORRERY_MPIRUN" % (command, package))
    return command, launcher_of(path, context.settings["mpi_library"])


def port_range(launcher, ports):
    """(options, variables) that keep all connections of a run to a range of ports, first and last."""
    first, last = ports
    if launcher is HYDRA:
        return [], {"MPIEXEC_PORT_RANGE": "%d:%d" % ports, "MPIR_CVAR_CH3_PORT_RANGE": "%d:%d" % ports, "UCX_TCP_PORT_RANGE": "%d-%d" % ports}
    # One half for messages, one for the launcher's own.
    middle = (first + last) // 2
    daemons = "oob_tcp_dynamic_ipv4_ports" if launcher is OPEN_MPI_4 else "prte_oob_tcp_dynamic_ipv4_ports"
    return ["--mca", "btl_tcp_port_min_v4", str(first), "--mca", "btl_tcp_port_range_v4", str(middle - first + 1),
            "--mca" if launcher is OPEN_MPI_4 else "--prtemca", daemons.replace("prte_", ""), "%d-%d" % (middle + 1, last),
            launcher.exports, "UCX_TCP_PORT_RANGE=%d-%d" % (first, middle)], {}


def prepare(launcher, environment):
    """Sets what the launcher and its MPI need in the environment. Answers the launcher's question to root, if our user has said yes to us."""
    if launcher is HYDRA:
        # Debian's MPICH uses UCX, whose handler of signals prints a screen of addresses behind what we say of a crash.
        environment.setdefault("UCX_HANDLE_ERRORS", "none")
    else:
        # Over TCP, Open MPI lets the receiver of a long message ask for all but its beginning. The question waits behind what
        # the receiver sends itself, so that exchanges in both directions take up to twice as long (doc/fidelity.md).
        environment.setdefault("OMPI_MCA_btl_tcp_flags", "send,inplace")
    allowed = environment.get("ORRERY_ALLOW_RUN_AS_ROOT", "0")
    if allowed not in ("", "0", "1"):
        raise UserError('environment variable ORRERY_ALLOW_RUN_AS_ROOT has the value "%s": it takes 0 or 1' % allowed)
    if os.geteuid() == 0 and allowed == "1":
        for name in launcher.asks_root:
            environment[name] = "1"
