# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery run`: starts a program of the real world on N ranks with mpirun.
# Invariant: the exit status is the program's, signals reach mpirun
# (orrery_launch.py; with --elastic we become the registry), and no option of ours
# contradicts those of --mpirun.
import collections
import os
import re
import shlex
import shutil
import stat
import sys

import orrery_elf
import orrery_hosts
import orrery_jobs
from orrery_cli import UserError, exec_program
import orrery_launchers
import orrery_options
from orrery_launch import launch

HELP = """usage: orrery run [-n N] [--master-slave] [--elastic] [--restart[=DIR]]
                  [--oversubscribe] [--mpirun "extra options"] [--report FILE] [--stats FILE]
                  [--statistics FILE] [--trace FILE] [--trace-limit SIZE]
                  [--trace-ranks LIST] [--trace-window FROM..TO] [--trace-kinds LIST]
                  [--quiet] [--allow-run-as-root] [--show] PROGRAM [ARGS]

Runs PROGRAM, built by `orrery cc`, on N ranks of the machine at hand, or of the
machines that the options or the job's allocation name.

  -n N, -np N         number of ranks (default: what the job of Slurm, PBS, LSF or
                      OAR was given, else the slots of the host file in --mpirun,
                      else 1)
  --oversubscribe     ranks share the cores of this machine, and none is bound, with
                      any MPI. More ranks than cores do that by themselves, with a
                      warning
  --mpirun OPTIONS    further options for mpirun (one argument, split as a shell
                      does): hosts, mapping, binding, environment
  --master-slave      the program, which does not communicate itself, executes its
                      tasks on all ranks: sets STARPU_NMPI_MS to N - 1 if the
                      environment does not set it
  --restart[=DIR]     if a rank is lost (killed, or its computer fails), start all
                      ranks again, without a host that is lost; a program with
                      checkpoints goes on from the last complete one in DIR
                      (default: orrery-checkpoints), which may be there from an
                      earlier run. DIR is told to the program as
                      ORRERY_CHECKPOINT_DIR
  --restarts K        at most K times (default 10)
  --report FILE.json  write what the run was, its time, tasks and messages, under
                      the names that `orrery sim --report` uses (sets
                      ORRERY_REPORT); for `orrery compare`
  --stats FILE.csv    write messages and bytes of each pair of ranks, for
                      `orrery matrix` (sets ORRERY_MPI_STATS_FILE)
  --statistics FILE.jsonl
                      write what each rank counted, one object of JSON a line: tasks
                      of workers, copies, memory, messages, energy (sets
                      ORRERY_STATISTICS)
  --trace FILE        record what happens into FILE, for `orrery trace` (sets
                      ORRERY_TRACE)
  --trace-limit SIZE  the trace has at most SIZE bytes (K, M or G behind the number):
                      single events are left out, sums stay exact (sets
                      ORRERY_TRACE_LIMIT)
  --trace-ranks LIST  record these ranks only, as 0-3,17 (sets ORRERY_TRACE_RANKS)
  --trace-window FROM..TO
                      record only what is between these times, in seconds since the
                      start, as 1.5..2, 10.. or ..3 (sets ORRERY_TRACE_WINDOW)
  --trace-kinds LIST  record only tasks, kernels (their starts and ends alone),
                      callbacks, messages, copies, progression, waits, changes,
                      memory, marks, links, data: names with commas between them (sets
                      ORRERY_TRACE_KINDS)
  --quiet             no summary at the end
  --allow-run-as-root as root: answer the question of Open MPI, which refuses root
                      otherwise; ORRERY_ALLOW_RUN_AS_ROOT=1 does, too
  --show              say which ranks run on which host, with how many cores, and who
                      carries messages, in lines that begin with #; then print the
                      command. Nothing is started
  --elastic           the number of processes may change while it runs
  --max M             with --elastic: at most M processes at a time (default N)
  --manager WHAT      with --elastic: who gives resources and takes them back:
                      script:FILE with lines `at SECONDS grow N` (or shrink N,
                      pool N, leave HOST, fail HOST), unix:PATH, a socket for
                      such lines, or slurm, in a job of Slurm: further jobs of one
                      host each, requested when the run grows beyond its hosts and
                      ended when nobody uses them; slurm:SECONDS waits so long for
                      them (default 60). slurm goes together with script:FILE

Outside a batch job, the cores of this machine are shared out evenly: each rank is
bound to cores of its own, and when there are more ranks than cores nothing is
bound. Options in --mpirun that name hosts, mapping or binding replace that; others
(-x, --mca, -genv ...) do not. $ORRERY_MPIRUN names another mpirun.
"""


def is_strange(path):
    """Whether the run will refuse to write there: where everybody may write, a link or another user's file."""
    found = os.lstat(path)
    return bool(os.stat(os.path.dirname(os.path.abspath(path))).st_mode & stat.S_IWOTH) and (stat.S_ISLNK(found.st_mode) or found.st_uid != os.geteuid())


class Outputs:
    """What is to be written about the run."""

    def __init__(self):
        self.report, self.stats, self.statistics, self.quiet = None, None, None, False

    def prepare(self, environment, command, show):
        """Empties files of older runs, unless it is only shown, and tells the program what to write."""
        environment["ORRERY_RUN"] = command
        if not self.quiet:
            environment["ORRERY_SUMMARY"] = "1"
        for path, variable in ((self.report, "ORRERY_REPORT"), (self.stats, "ORRERY_MPI_STATS_FILE"), (self.statistics, "ORRERY_STATISTICS")):
            if path:
                environment[variable] = os.path.abspath(path)
                if os.path.isfile(path) and not show and not is_strange(path):
                    os.truncate(path, 0)

    def check(self, status):
        """The status of the run: a report that nobody wrote fails one that did not fail by itself."""
        if self.report and not status and (not os.path.exists(self.report) or os.path.isfile(self.report) and not os.path.getsize(self.report)):
            sys.stderr.write("orrery run: --report %s: nobody has written it, because the program did not start the runtime, or ended "
                             "without stopping it; call starpu_shutdown() or starpu_mpi_shutdown() on every rank\n" % self.report)
            return 1
        return status


class Restart:
    """The request of --restart: the folder of checkpoints, or None, and how often to start again."""

    def __init__(self):
        self.folder = None
        self.times = 10


Request = collections.namedtuple("Request", "ranks mpiexec launcher given extra crowd show words elastic restart slaves outputs")


def whole(option, value, what):
    if not value.isdigit() or int(value) < 1:
        raise UserError("%s %s: the number of %s must be a positive integer" % (option, value, what))
    return int(value)


def has_hosts(launcher, extra):
    """Whether options of mpirun name hosts."""
    return any("host" in word or word.partition("=")[0] in launcher.hosts + launcher.host_files for word in extra or [])


def default_ranks(launcher, ranks, extra, needed):
    """(ranks, options for mpirun): what -n says, or else what there is. Ranks may be 0, so that mpirun
    finds the number by itself, unless it is needed."""
    options = []
    if ranks is None:
        path = orrery_jobs.host_file(extra or [], launcher)
        if path:
            ranks = orrery_jobs.of_host_file(path, launcher) or 0
        elif orrery_jobs.in_job(os.environ):
            orrery_jobs.check_step(os.environ)
            ranks, options = orrery_jobs.of_job(os.environ, launcher)
            ranks = ranks or 0
        else:
            ranks = 1
        if needed and not ranks:
            raise UserError("how many ranks were given to this run is not said anywhere; give -n N")
    return ranks, [] if has_hosts(launcher, extra) else options


def parse(context, arguments):
    ranks, extra, show, slaves, restart, outputs = None, None, False, False, Restart(), Outputs()
    elastic, crowd = {"elastic": False}, False
    words = list(arguments)
    while words and words[0].startswith("-"):
        word = words.pop(0)
        if word == "--":
            break
        if word in ("-n", "-np", "--mpirun", "--max", "--manager", "--restarts", "--trace", "--trace-limit", "--report", "--stats", "--statistics", *orrery_options.PARTS) \
                and not words:
            raise UserError("%s needs a value after it" % word)
        if word in ("-n", "-np"):
            ranks = whole("-n", words.pop(0), "ranks")
        elif word == "--max":
            elastic["max"] = whole("--max", words.pop(0), "processes")
        elif word == "--manager":
            value = words.pop(0)
            import orrery_slurm  # with what it needs, a tenth of what this command does before it starts a program
            if orrery_slurm.is_slurm(value):
                elastic["slurm"] = orrery_slurm.wait_of(value)
            else:
                elastic["manager"] = value
        elif word == "--elastic":
            elastic["elastic"] = True
        elif word == "--oversubscribe":
            crowd = True
        elif word == "--mpirun":
            extra = shlex.split(words.pop(0))
        elif word.startswith("--mpirun="):
            extra = shlex.split(word.split("=", 1)[1])
        elif word == "--trace" or word.startswith("--trace="):
            value = word.partition("=")[2] or words.pop(0)
            orrery_options.check_output("--trace", value)
            os.environ["ORRERY_TRACE"] = os.path.abspath(value)
        elif word.partition("=")[0] == "--trace-limit":
            os.environ["ORRERY_TRACE_LIMIT"] = orrery_options.trace_limit(word.partition("=")[2] or words.pop(0))
        elif word.partition("=")[0] in orrery_options.PARTS:
            name, equals, value = word.partition("=")
            orrery_options.take_trace_part(name, value if equals else words.pop(0))
        elif word.partition("=")[0] in ("--report", "--stats", "--statistics"):
            name, _, value = word.partition("=")
            value = value or words.pop(0)
            orrery_options.check_output(name, value)
            setattr(outputs, name[2:], value)
        elif word == "--quiet":
            outputs.quiet = True
        elif word == "--allow-run-as-root":
            os.environ["ORRERY_ALLOW_RUN_AS_ROOT"] = "1"
        elif word == "--show":
            show = True
        elif word == "--master-slave":
            slaves = True
        elif word == "--restart" or word.startswith("--restart="):
            restart.folder = os.path.abspath(word.partition("=")[2] or "orrery-checkpoints")
        elif word == "--restarts":
            value = words.pop(0)
            if not value.isdigit():
                raise UserError("--restarts %s: how often to start again must be a whole number" % value)
            restart.times = int(value)
        else:
            raise UserError("unknown option %s; see `orrery run --help` (options of mpirun go into --mpirun \"...\")" % word)
    orrery_options.check_trace_options(None if elastic["elastic"] or slaves else ranks)
    if not words:
        raise UserError("no program given; usage: orrery run -n N PROGRAM [ARGS]")
    if len(elastic) > 1 and not elastic["elastic"]:
        raise UserError("--max and --manager are about elastic runs; add --elastic")
    if not context.has("mpi"):
        raise UserError("this Orrery was built without MPI; configure it again with an MPI installed (Debian: libopenmpi-dev or libmpich-dev)")
    mpiexec, launcher = orrery_launchers.find(context)
    ranks, given = default_ranks(launcher, ranks, extra, slaves or elastic["elastic"])
    if elastic.get("max", ranks) < ranks:
        raise UserError("--max %d is less than the %d processes that -n asks for" % (elastic["max"], ranks))
    if elastic["elastic"] and restart.folder:
        raise UserError("--elastic and --restart exclude each other; leave one of them out")
    if slaves and (ranks < 2 or elastic["elastic"] or restart.folder):
        raise UserError("--master-slave needs at least 2 ranks (-n), and excludes --elastic and --restart")
    if "slurm" in elastic:
        check_slurm(launcher, extra, elastic)
    if elastic["elastic"] and outputs.report:
        raise UserError("--report is about runs with a fixed number of processes; leave it or --elastic out")
    if elastic["elastic"] and launcher.elastic is None:
        raise UserError("--elastic: " + launcher.no_elastic)
    return Request(ranks, [mpiexec], launcher, given, extra, crowd, show, words, elastic, restart, slaves, outputs)


def check_slurm(launcher, extra, elastic):
    if has_hosts(launcher, extra):
        raise UserError("--manager slurm says to mpirun which hosts there are; leave those in --mpirun out")
    if not elastic.get("manager", "script:").startswith("script:"):
        raise UserError("--manager %s: beside --manager slurm there can be script:FILE only" % elastic["manager"])
    if elastic.get("manager", "") == "script:":
        raise UserError("--manager script: names no file; give script:FILE")


def run_plain(launcher, command, environment):
    """The exit status of the run; says what was lost, if anything was. command: mpirun with its options, and the program with its."""
    options, program = command
    status, lost = launch(launcher, options + program, environment, orrery_hosts.known(launcher, options, environment))
    if lost:
        sys.stderr.write("orrery run: %s, and nobody goes on without it: all ranks have ended. "
                         "A program with checkpoints goes on with --restart\n" % lost)
    return 128 - status if status < 0 else status


def has_begun(folder):
    """Whether a program with checkpoints has come so far that the folder is in use."""
    return os.path.isdir(folder) and bool(os.listdir(folder))


def take_locks(folder, hosts):
    """Takes the folder of checkpoints from processes of lost hosts, which may hold it for ever. One that goes on later sees
    that its lock has no name any more, and writes nothing (src/mpi/checkpoint/checkpoint_folder.c)."""
    for name in os.listdir(folder) if os.path.isdir(folder) else []:
        path = os.path.join(folder, name)
        try:
            if name.endswith(".lock") and not os.path.islink(path):
                with open(path, errors="replace") as file:
                    owner = re.match(r"process \d+ on ([^\s,]+),", file.readline(4096))
                if owner and orrery_hosts.short(owner[1]) in map(orrery_hosts.short, hosts):
                    os.unlink(path)
        except OSError:
            pass  # the program says that it is locked


def run_restarting(launcher, command, environment, restart):
    """The exit status of the run that comes to its end. command: mpirun with its options, and the program with its."""
    options, program = command
    for attempt in range(restart.times + 1):
        status, lost = launch(launcher, options + program, environment, orrery_hosts.known(launcher, options, environment))
        if status == 0 or (lost is None and 0 < status <= 128):
            break
        if status < 0:  # mpirun itself was ended, by whoever wants an end
            return 128 - status
        if lost and not lost.sure and not has_begun(restart.folder):
            break  # the host could not be reached from the beginning
        what, where = str(lost) if lost else "a rank was lost", ""
        if lost and lost.hosts and attempt < restart.times:
            options = orrery_hosts.without(launcher, options, lost.hosts, environment)
            if not options:
                sys.stderr.write("orrery run: %s; neither the options of mpirun nor the job name another host, so start the run "
                                 "again on the hosts that are left: it goes on from %s\n" % (what, restart.folder))
                return status or 1
            take_locks(restart.folder, lost.hosts)
            where = " without " + ", ".join(lost.hosts)
        if attempt == restart.times:
            sys.stderr.write("orrery run: %s; giving up after %d restarts\n" % (what, restart.times))
            break
        sys.stderr.write("orrery run: %s; starting all ranks again%s from the last complete checkpoint (restart %d of %d)\n"
                         % (what, where, attempt + 1, restart.times))
    try:
        os.rmdir(restart.folder)
    except OSError:
        pass  # checkpoints are left, or it was never made
    return status


def check_program(program):
    path = program if os.path.exists(program) else shutil.which(program)
    if not path:
        raise UserError("%s: there is no such program; compile it with `orrery cc`" % program)
    if os.path.isdir(path):
        raise UserError("%s is a directory, not a program" % program)
    if orrery_elf.world_of(path) == "simulated":
        raise UserError("%s was built for the simulated world; run it with `orrery sim -n N %s`, "
                        "or build it for this one with `orrery cc`" % (program, program))
    if not os.access(path, os.X_OK):
        raise UserError("%s is not executable; chmod +x it, or give the program that `orrery cc` made" % program)
    return path if os.sep in path else os.path.join(".", path)


def usable_cores():
    """Cores this process may use, without counting hardware threads twice."""
    cores = set()
    cpus = os.sched_getaffinity(0)
    for cpu in cpus:
        folder = "/sys/devices/system/cpu/cpu%d/topology/" % cpu
        try:
            with open(folder + "physical_package_id") as package, open(folder + "core_id") as core:
                cores.add((package.read(), core.read()))
        except OSError:
            return len(cpus)
    return len(cores)


def default_mapping(launcher, ranks):
    cores = usable_cores()
    return launcher.crowded() if ranks > cores else launcher.bound(cores // ranks)


def mapping(request, environment):
    """Options for the launcher that say how ranks share cores, before those of the user."""
    launcher, extra = request.launcher, request.extra or []
    placed = launcher.places(extra)
    if request.crowd:
        return launcher.crowd if placed else launcher.crowded()
    if placed or orrery_jobs.in_job(environment):
        return []
    return default_mapping(launcher, usable_cores() + 1 if request.elastic["elastic"] else request.ranks)


def warn_of_crowd(request, environment):
    """Says that ranks share cores because there are too few, if nobody has asked for that."""
    cores, quiet = usable_cores(), request.crowd or request.elastic["elastic"] or request.outputs.quiet or request.show
    if request.ranks <= cores or quiet or orrery_jobs.in_job(environment) or request.launcher.places(request.extra or []):
        return
    workers = environment.get("STARPU_NCPU") or ("%d, the cores of this machine (STARPU_NCPU=1: one)" % cores if cores > 1 else "1")
    sys.stderr.write("orrery run: warning: %d ranks on %d core%s share %s, so times mean little; workers of each rank: %s. --oversubscribe "
                     "says that this is meant\n" % (request.ranks, cores, "s" if cores > 1 else "", "them" if cores > 1 else "it", workers))


def names_hosts(launcher, environment, extra):
    """Whether processes may be on other machines than this one."""
    return orrery_jobs.in_job(environment) or has_hosts(launcher, extra) or \
        any(name.startswith("OMPI_MCA_") and "hostfile" in name for name in environment)


def registry_hosts(launcher, environment, extra):
    """The hosts whose processes the registry waits for, with commas between them: None if it is this one only, "?"
    if others cannot be named here."""
    if not names_hosts(launcher, environment, extra):
        return None
    hosts = orrery_jobs.hosts_of_options(extra or [], launcher) if has_hosts(launcher, extra) else orrery_jobs.hosts_of_job(environment)
    if not hosts:
        return "?"
    others = [host for host in hosts if not orrery_jobs.is_this_host(host)]
    return ",".join(others) or None


def settings_of_pmix(launcher, environment, extra, in_slurm):
    """Settings that PMIx needs where processes come and go, in the environment; and the options by which daemons on other hosts get them."""
    own = any(launcher.own_daemons.match(word) for word in list(extra or []) + list(environment))
    # The number of a connection that mpirun's PMIx closed is used again; with epoll, libevent does not notice the new
    # one then, and its process waits for ever.
    settings = {"EVENT_NOEPOLL": "1"}
    if not own:
        # The other way of keeping what is known of processes maps a file for each start, and keeps it. A daemon that has
        # another way than its processes cannot connect those of two starts.
        settings["PMIX_MCA_gds"] = "hash"
    for name, value in settings.items():
        environment.setdefault(name, value)
    if own or not (in_slurm or names_hosts(launcher, environment, extra)):
        return []
    return launcher.daemons([(name, environment[name]) for name in settings])


def elastic_command(context, request, command, environment):
    """The command with the registry of process sets as its parent."""
    launcher, ranks, elastic, extra = request.launcher, request.ranks, request.elastic, request.extra
    server = os.path.join(os.path.dirname(context.paths["launcher"]), "orrery-elastic")
    if context.paths["tree"] == "build":
        server = os.path.join(context.paths["bin"], "orrery-elastic")
    if not os.path.exists(server):
        raise UserError("%s is not there; %s" % (server, "run make" if context.paths["tree"] == "build" else "install Orrery again"))
    most = elastic.get("max", ranks)
    for name in ("ORRERY_DYN_HOSTS", "ORRERY_DYN_ROOMS"):
        environment.pop(name, None)
    hosts = registry_hosts(launcher, environment, extra)
    if hosts:
        environment["ORRERY_DYN_HOSTS"] = hosts
    if most > usable_cores() and not names_hosts(launcher, environment, extra):
        # mpirun knows the first processes only, and lets all poll as if each had a core
        environment.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")
    if context.paths.get("moved"):
        # processes that are added do not get the environment of those that are there, but mpirun's
        known = environment.get("LD_LIBRARY_PATH")
        environment["LD_LIBRARY_PATH"] = context.paths["lib"] + (":" + known if known else "")
    command[1:1] = launcher.elastic + settings_of_pmix(launcher, environment, extra, "slurm" in elastic)
    if "slurm" in elastic:
        return [server, str(ranks), str(most)], command
    return [server, str(ranks), str(most), elastic.get("manager", "-")] + command


def run_under_slurm(request, server, command, environment):
    """The status of an elastic run with Slurm as its resource manager; environment["ORRERY_DYN_HOSTS"]: those of the first job."""
    import orrery_slurm
    elastic, first = request.elastic, orrery_slurm.first_hosts(environment)
    script = orrery_slurm.read_script(elastic["manager"].partition(":")[2]) if "manager" in elastic else []
    if request.ranks > sum(first.values()):
        raise UserError("-n %d: the job has %d tasks; it has to have as many as the run begins with" % (request.ranks, sum(first.values())))
    folder, sweeper = orrery_slurm.folder_for_sockets() if not request.show else ("FOLDER", None)
    try:
        options = orrery_slurm.options_of_mpirun(first, orrery_slurm.agent_command(folder))
        if not request.launcher.places(request.extra or []):
            options += request.launcher.crowded()
        command = command[:1] + options + command[1:]
        if request.show:
            print("# further hosts: by salloc, each for %d processes; waiting %g s for them" % (max(first.values()), elastic["slurm"]))
            print(shlex.join(server + ["unix:FOLDER/m"] + command))
            return 0
        environment["ORRERY_DYN_ROOMS"] = ",".join("%s:%d" % item for item in first.items())
        adapter = orrery_slurm.Adapter(first, max(first.values()), elastic["slurm"], script, environment, folder)
        return adapter.run(server + ["unix:%s/m" % folder] + command, environment)
    finally:
        if sweeper:
            orrery_slurm.remove_folder(sweeper)


def main(context, arguments):
    if arguments and arguments[0] in ("-h", "--help"):
        sys.stdout.write(HELP)
        return 0
    request = parse(context, arguments)
    launcher, restart, outputs = request.launcher, request.restart, request.outputs
    program = check_program(request.words[0])
    environment = dict(os.environ)
    orrery_launchers.prepare(launcher, environment)
    if request.slaves:
        environment.setdefault("STARPU_NMPI_MS", str(request.ranks - 1))
    number = ["-n", str(request.ranks)] if request.ranks else []
    options = request.given + mapping(request, environment) + (request.extra or [])
    outputs.quiet = outputs.quiet or request.elastic["elastic"]
    outputs.prepare(environment, "orrery run " + " ".join(shlex.quote(word) for word in arguments), request.show)
    if restart.folder:
        environment["ORRERY_CHECKPOINT_DIR"] = restart.folder
    several = names_hosts(launcher, environment, request.extra)
    if several and launcher.exports:
        options += orrery_hosts.passed_on(launcher, environment, request.extra or [])
    parts = (request.mpiexec + number + options, [program] + request.words[1:])
    command = parts[0] + parts[1]
    if request.elastic["elastic"]:
        command = elastic_command(context, request, command, environment)
    if "slurm" in request.elastic and not request.show:
        return run_under_slurm(request, *command, environment)
    if request.show:
        for line in orrery_hosts.describe(launcher, request.mpiexec[0], request.ranks, options, environment, several):
            print("# " + line)
        if "slurm" in request.elastic:
            return run_under_slurm(request, *command, environment)
        print(shlex.join(command) if hasattr(shlex, "join") else " ".join(command))
        return 0
    warn_of_crowd(request, environment)
    if restart.folder:
        return outputs.check(run_restarting(launcher, parts, environment, restart))
    if request.elastic["elastic"]:
        exec_program(command, environment)
    return outputs.check(run_plain(launcher, parts, environment))
