# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery run --elastic --manager slurm`: the adapter between an elastic run in a job of Slurm and Slurm. It stays
# beside the run as the parent of its registry (orrery-elastic). When the run wants to grow beyond its hosts, it
# requests further jobs of one host each by salloc, and says their room to the registry when all are there. A host that
# nobody uses any more is given back by the end of its job; the hosts of the first job stay until that ends. Each
# salloc holds its job as long as a pipe to us is open, so that jobs end with us.
# Invariant: every job that it has requested ends before it does, or with it.
import collections
import math
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import orrery_jobs
import orrery_slurm_relay
from orrery_child import end_with_parent
from orrery_cli import UserError
from orrery_launch import children

TOOLS = ("salloc", "srun", "scancel", "sinfo", "squeue")
WAIT_S = 60  # for hosts that were requested, unless --manager slurm:SECONDS says otherwise
TURN_S = 0.25
LOOK_S = 2.0  # between two questions to Slurm
IDLE_S = 90  # for processes on a new host, longer than the registry waits for them
LOST_S = 5  # so long after the last process mpirun may wait for those that it has lost
OVER_S = 5  # more for mpirun to tell daemons to end
DAEMON_S = 10  # for a daemon to end without mpirun
END_S = 20
# Variables that salloc takes from the environment of the first job.
LIKE = (("SLURM_JOB_PARTITION", "--partition"), ("SLURM_JOB_ACCOUNT", "--account"), ("SLURM_JOB_QOS", "--qos"),
        ("SLURM_JOB_RESERVATION", "--reservation"), ("SLURM_CPUS_PER_TASK", "--cpus-per-task"), ("SLURM_MEM_PER_CPU", "--mem-per-cpu"))
SHELL = 'echo "$SLURM_JOB_ID $SLURM_JOB_NODELIST"; exec cat > /dev/null'


def is_slurm(manager):
    return manager == "slurm" or manager.startswith("slurm:")


def say(text):
    sys.stderr.write("orrery run: Slurm: %s\n" % text)
    sys.stderr.flush()


def wait_of(manager):
    value = manager.partition(":")[2]
    if manager == "slurm":
        return WAIT_S
    if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", value):
        raise UserError("--manager %s: behind slurm: stand the seconds to wait for hosts, such as slurm:300" % manager)
    return float(value)


def first_hosts(environment):
    """{host: ranks} of the job that we are in."""
    if not environment.get("SLURM_JOB_ID"):
        raise UserError("--manager slurm: this is no job of Slurm, so there is nothing to begin with; start it by salloc or in a script for sbatch")
    for tool in TOOLS:
        if not shutil.which(tool):
            raise UserError("--manager slurm: %s is not there; install Slurm's commands (Debian: slurm-client)" % tool)
    hosts = orrery_jobs.hosts_of_job(environment)
    tasks = orrery_jobs.per_node(environment, "SLURM_TASKS_PER_NODE")
    if not hosts or len(hosts) != len(tasks):
        raise UserError("--manager slurm: SLURM_JOB_NODELIST=%s and SLURM_TASKS_PER_NODE=%s do not say which hosts the job has"
                        % (environment.get("SLURM_JOB_NODELIST"), environment.get("SLURM_TASKS_PER_NODE")))
    return dict(zip(hosts, tasks))


def options_of_mpirun(first, agent):
    """Options by which mpirun starts its daemons through us, on the hosts of the job to begin with."""
    return ["--host", ",".join("%s:%d" % item for item in first.items()), "--leave-session-attached", "--mca", "ras", "^slurm",
            # Without the threshold, daemons that run already do not learn of hosts that come.
            "--mca", "plm_base_node_regex_threshold", "1", "--mca", "plm", "rsh", "--mca", "plm_rsh_agent", agent, "--mca", "plm_rsh_no_tree_spawn", "1", "--mca", "routed", "radix", "--mca", "routed_radix", "512"]


def read_script(path):
    """[(seconds, line)] of a script of demands."""
    lines = []
    try:
        with open(path) as stream:
            for number, line in enumerate(stream, 1):
                words = line.split()
                if not words or words[0].startswith("#"):
                    continue
                if len(words) != 4 or words[0] != "at" or not re.fullmatch(r"[0-9.]+", words[1]) or words[2] not in ("grow", "shrink", "pool", "leave", "fail"):
                    raise UserError("%s:%d: \"%s\" is not `at SECONDS grow N', shrink N, pool N, leave HOST or fail HOST" % (path, number, line.strip()), 1)
                lines.append((float(words[1]), " ".join(words[2:])))
    except (OSError, ValueError) as error:
        raise UserError("%s: %s" % (path, getattr(error, "strerror", None) or error))
    return sorted(lines, key=lambda item: item[0])


def ask_slurm(*command):
    """Lines of a command of Slurm; None if it fails, as when the controller restarts."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=30,
                              check=False, start_new_session=True)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.splitlines() if done.returncode == 0 else None


class Job:
    """A further job of one host, held by salloc while our end of its pipe is open."""

    def __init__(self, command, environment):
        self.said = tempfile.TemporaryFile("w+")
        self.salloc = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.said, start_new_session=True)
        os.set_blocking(self.salloc.stdout.fileno(), False)
        self.id = self.host = None
        self.words = b""

    def look(self):
        """True if it has its host; None: not yet; False: never."""
        if not self.host:
            try:
                self.words += os.read(self.salloc.stdout.fileno(), 4096)
            except BlockingIOError:
                pass
            if self.words.endswith(b"\n"):
                self.id, self.host = self.words.decode().split()[:2]
        if self.salloc.poll() is not None:
            return False
        return True if self.host else None

    def why(self):
        """The last words of salloc."""
        self.said.seek(0)
        lines = [line.strip() for line in self.said.read().splitlines() if line.strip()]
        return re.sub(r"^salloc: (error: )?", "", lines[-1]) if lines else "salloc has ended with status %s" % self.salloc.returncode

    def end(self):
        self.salloc.stdin.close()
        if not self.host and self.salloc.poll() is None:
            self.salloc.terminate()

    def wait(self, until):
        try:
            self.salloc.wait(max(0.1, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            if self.id:
                ask_slurm("scancel", self.id)
            self.salloc.terminate()
            try:
                self.salloc.wait(5)
            except subprocess.TimeoutExpired:
                self.salloc.kill()
        self.salloc.stdout.close()
        self.said.close()


class Host:
    """A host of the run. job: the further job that it is of, None: the first one."""

    def __init__(self, name, room, job=None):
        self.name, self.room, self.job = name, room, job
        self.processes, self.used, self.leaves, self.since = 0, job is None, False, time.monotonic()


class Registry:
    """The connection to the registry: lines, each with an answer."""

    def __init__(self, path):
        self.path, self.channel, self.lines = path, None, None

    def connected(self):
        if self.channel:
            return True
        channel = socket.socket(socket.AF_UNIX)
        try:
            channel.connect(self.path)
        except OSError:
            channel.close()
            return False
        channel.settimeout(30)
        self.channel, self.lines = channel, channel.makefile("r")
        return True

    def ask(self, line):
        """The answer, "" when the run has ended."""
        try:
            self.channel.sendall(line.encode() + b"\n")
            return self.lines.readline().strip()
        except OSError:
            return ""


# Hosts that were requested: for how many processes, since when, the jobs, and the demand that waits, None: a program asks.
Request = collections.namedtuple("Request", "n since jobs demand")


class Adapter:
    def __init__(self, first, room, wait_s, script, environment, folder):
        self.hosts = {name: Host(name, tasks) for name, tasks in first.items()}
        self.room, self.wait_s, self.script = room, wait_s, script
        self.environment = {name: value for name, value in environment.items() if not name.startswith("SLURM_") or name == "SLURM_CONF"}
        self.first_job, self.like = environment["SLURM_JOB_ID"], [w for name, option in LIKE if environment.get(name) for w in (option, environment[name])]
        self.name = environment.get("SLURM_JOB_NAME", "orrery")[:64] + "-more"
        self.request, self.demands, self.ending, self.leaving, self.given_back = None, [], [], [], set()
        self.alive, self.lost, self.over_s, self.began = -1, False, None, time.monotonic()
        self.looked = 0.0
        self.ended_by, self.told, self.finished, self.said_lost = None, None, False, False
        self.registry = Registry(os.path.join(folder, "m"))
        self.relays = orrery_slurm_relay.Relays(os.path.join(folder, "a"), self.step_of)

    # ---- for the relays, from their threads ----

    def step_of(self, host, command):
        known = self.hosts.get(host)
        if not known:
            raise ValueError("no job of this run has that host")
        job = known.job.id if known.job else self.first_job
        return self.step(job, host) + ["sh", "-c", command]

    @staticmethod
    def step(job, host):
        return ["srun", "--quiet", "--jobid=" + job, "--nodelist=" + host, "--nodes=1", "--ntasks=1", "--overlap", "--mpi=none",
                "--kill-on-bad-exit=0"]

    # ---- hosts ----

    def salloc(self, time_left):
        mine = set(self.hosts) | self.given_back
        return ["salloc", "--nodes=1", "--ntasks=%d" % self.room, "--ntasks-per-node=%d" % self.room, "--exclusive", "--job-name=" + self.name,
                "--exclude=" + ",".join(sorted(mine))] + self.like + (["--time=" + time_left] if time_left else []) + ["sh", "-c", SHELL]

    def ask_for(self, n, demand):
        """Requests hosts for n more processes."""
        lines = ask_slurm("squeue", "-h", "-j", self.first_job, "-o", "%L")
        left = lines[0].strip() if lines else ""
        command = self.salloc(left if re.fullmatch(r"[0-9:-]+", left) else None)
        count = math.ceil(n / self.room)
        say("%d more process%s need%s %d host%s; waiting for %s up to %g s" % (
            n, "es"[:2 * (n > 1)], "s" * (n == 1), count, "s" * (count > 1), "it" if count == 1 else "them", self.wait_s))
        self.request = Request(n, time.monotonic(), [Job(command, self.environment) for _ in range(count)], demand)

    def drop_request(self):
        for job in self.request.jobs:
            job.end()
        self.ending += self.request.jobs
        self.request = None

    def follow_request(self, lacks):
        request = self.request
        states = [job.look() for job in request.jobs]
        if request.demand is None and not lacks:
            say("nobody waits for more hosts any more; the request is withdrawn")
            self.drop_request()
        elif False in states:
            why = request.jobs[states.index(False)].why()
            say("no hosts: %s%s" % (why, "; \"%s\" is dropped" % request.demand if request.demand else ""))
            self.drop_request()
            if request.demand is None:
                self.registry.ask("deny refused")
        elif all(states):
            self.request = None
            silent = [job for job in request.jobs if ask_slurm(*self.step(job.id, job.host), "true") is None]
            if silent:
                say("host %s starts nothing (job %s); no hosts" % (silent[0].host, silent[0].id))
                self.request = request
                self.given_back.update(job.host for job in silent)
                self.drop_request()
                if request.demand is None:
                    self.registry.ask("deny refused")
                return
            for job in request.jobs:
                self.hosts[job.host] = Host(job.host, self.room, job)
                say("host %s has come (job %s), for %d processes" % (job.host, job.id, self.room))
                self.registry.ask("host %s:%d" % (job.host, self.room))
            if request.demand:
                self.registry.ask(request.demand)
        elif time.monotonic() - request.since > self.wait_s:
            say("no hosts within %g s; the request is withdrawn, and the run goes on as it is%s" % (
                self.wait_s, "; \"%s\" is dropped" % request.demand if request.demand else ""))
            self.drop_request()
            if request.demand is None:
                self.registry.ask("deny %g" % self.wait_s)

    def give_back(self, host, why):
        say("host %s %s (job %s)" % (host.name, why, host.job.id))
        self.registry.ask("host %s:0" % host.name)
        self.given_back.add(host.name)
        del self.hosts[host.name]
        self.relays.cut(host.name)
        self.leaving.append((time.monotonic(), host))

    def fail(self, host, why):
        say("host %s is lost: %s" % (host.name, why))
        self.registry.ask("host %s:0" % host.name)
        if host.processes:
            self.lost = True
            self.registry.ask("fail %s" % host.name)
        self.relays.cut(host.name)
        self.given_back.add(host.name)
        del self.hosts[host.name]
        if host.job:
            host.job.end()
            self.ending.append(host.job)

    def leave(self, host):
        host.leaves = True
        self.registry.ask("host %s:0" % host.name)
        if host.processes:
            say("host %s is drained; its processes leave at the next point where the program can change" % host.name)
            self.registry.ask("leave %s" % host.name)

    def look_at_slurm(self):
        """The fate of jobs and hosts."""
        self.looked = time.monotonic()
        states = ask_slurm("squeue", "-h", "-j", self.first_job, "-o", "%T")
        state = states[0].strip() if states else "gone" if states == [] else None
        if state not in (None, "RUNNING", "SUSPENDED") and not self.ended_by:
            say("the first job is %s; the run ends" % state.lower())
            self.ended_by = signal.SIGTERM
            return
        for host in list(self.hosts.values()):
            if host.job and host.job.look() is False:
                self.fail(host, "its job %s has ended" % host.job.id)
        for line in ask_slurm("sinfo", "-h", "-N", "-n", ",".join(self.hosts), "-o", "%N %T") or []:
            name, _, state = line.strip().partition(" ")
            host = self.hosts.get(name)
            if host and "down" in state:
                self.fail(host, "Slurm says that it is down")
            elif host and ("drain" in state or state.startswith("fail")) and not host.leaves:
                self.leave(host)

    # ---- the run ----

    def begin(self):
        if not self.registry.connected():
            return False
        for host in self.hosts.values():
            self.registry.ask("host %s:%d" % (host.name, host.room))
        return True

    def status(self):
        """Takes in what the registry knows; how many processes of a program wait for room."""
        words = self.registry.ask("status").split()
        if len(words) < 3 or words[0] != "ok":
            return 0
        self.alive = int(words[1])
        for word in words[3:]:
            name, _, n = word.rpartition(":")
            host = self.hosts.get(name)
            if host:
                host.processes = int(n)
                host.used = host.used or host.processes > 0
        return int(words[2])

    def demand(self):
        """The next demand of the script whose time has come."""
        if self.alive < 0 or not self.script or time.monotonic() - self.began < self.script[0][0]:
            return
        line = self.script.pop(0)[1]
        what, value = line.split()
        free = sum(host.room for host in self.hosts.values() if not host.leaves) - sum(h.processes for h in self.hosts.values() if not h.leaves)
        if what == "grow" and value.isdigit() and int(value) > free:
            self.ask_for(int(value) - free, line)
        elif self.registry.ask(line) != "ok":
            say("\"%s\" is refused" % line)

    def tidy(self):
        """Gives back what nobody uses."""
        now = time.monotonic()
        for host in list(self.hosts.values()):
            if host.job and not host.processes and (host.used or host.leaves or now - host.since > IDLE_S):
                self.give_back(host, "is given back")
        for since, host in list(self.leaving):
            if self.relays.is_empty(host.name) or now - since > DAEMON_S:
                self.leaving.remove((since, host))
                host.job.end()
                self.ending.append(host.job)
        self.ending = [job for job in self.ending if job.salloc.poll() is None]

    def turn(self):
        lacks = self.status()
        if self.lost_some() and not self.said_lost:
            self.said_lost = True
            self.registry.ask("lost")
        if self.alive == 0:
            self.over_s = self.over_s or time.monotonic()
            self.relays.over = True
            waited = time.monotonic() - self.over_s
            if self.lost_some() and not self.finished and waited > LOST_S:
                self.finished = True
                self.registry.ask("finish")
            if waited > LOST_S + OVER_S:
                self.relays.ordered = True
            if waited > LOST_S + OVER_S + END_S:
                self.ended_by = signal.SIGTERM
        elif self.request:
            self.follow_request(lacks)
        elif lacks:
            self.ask_for(lacks, None)
        else:
            self.demand()
        self.tidy()
        if time.monotonic() - self.looked > LOOK_S:
            self.look_at_slurm()

    def lost_some(self):
        """True if mpirun may wait for processes that it cannot hear of."""
        return self.lost or self.relays.lost

    def on_signal(self, number, _):
        self.ended_by = number

    def pass_on(self, server):
        """Ends the run as we are told to, once, and by force if it does not."""
        if self.told is None:
            self.told = time.monotonic()
            self.relays.over = self.relays.ordered = True
            server.send_signal(self.ended_by if self.ended_by != signal.SIGINT else signal.SIGTERM)
        elif time.monotonic() - self.told > END_S:
            sys.stderr.write("orrery run: mpirun has not ended %d s after it was told to; it is killed\n" % END_S)
            for pid in children(server.pid) + [server.pid]:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self.told = math.inf

    def run(self, command, environment):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self.on_signal)
        server = subprocess.Popen(command, env=environment, preexec_fn=end_with_parent)
        try:
            begun = False
            while server.poll() is None:
                begun = begun or self.begin()
                if self.ended_by:
                    self.pass_on(server)
                elif begun:
                    self.turn()
                time.sleep(TURN_S)
        finally:
            self.close()
        return 128 - server.returncode if server.returncode < 0 else server.returncode

    def close(self):
        jobs = self.ending + (self.request.jobs if self.request else []) + \
            [host.job for host in list(self.hosts.values()) + [host for _, host in self.leaving] if host.job]
        for job in jobs:
            job.end()
        self.relays.close()
        until = time.monotonic() + 10
        for job in jobs:
            job.wait(until)


def folder_for_sockets():
    """A folder with a short path, since those of sockets have a limit; and the process that removes it when its input ends,
    so that none is left by a run that is killed."""
    folder = tempfile.mkdtemp(prefix="orrery-")
    if len(folder) > 60:
        os.rmdir(folder)
        folder = tempfile.mkdtemp(prefix="orrery-", dir="/tmp")
    # The signals that end a run pass it by: it ends after us.
    sweeper = subprocess.Popen(["sh", "-c", 'trap "" HUP INT TERM; cat > /dev/null; exec rm -rf "$0"', folder], stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    return folder, sweeper


def remove_folder(sweeper):
    sweeper.stdin.close()
    sweeper.wait()


def agent_command(folder):
    words = [sys.executable, "-B", os.path.abspath(orrery_slurm_relay.__file__), os.path.join(folder, "a")]
    if any(re.search(r"\s", word) for word in words):
        raise UserError("--manager slurm: mpirun cannot start %s: a path with a blank" % " ".join(words))
    return " ".join(words)
