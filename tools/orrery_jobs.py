# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The part that a job of a batch system was given, from the variables that the system sets,
# and what a host file holds.
# Invariant: a number is one that the system or the file says, never a guess; a value that cannot
# be read is an error that names the variable.
import os
import re

from orrery_cli import UserError

# Variables that tell that this is a job: Slurm, PBS, LSF, OAR, LoadLeveler.
BATCH_VARIABLES = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "OAR_JOB_ID", "LOADL_STEP_ID")

MOST_NODES = 1 << 20  # of a job


def in_job(environment):
    return any(environment.get(name) for name in BATCH_VARIABLES)


def _number(environment, name):
    """The number that a variable holds, or None if it is not set."""
    value = environment.get(name, "").strip()
    if not value:
        return None
    if not value.isdigit() or int(value) < 1:
        raise UserError("%s=%s: the batch system sets it to a number of processes; give -n N" % (name, value))
    return int(value)


def per_node(environment, name):
    """Slurm's list per node: "2(x3),1" is [2, 2, 2, 1]. [] if it is not set."""
    value, numbers = environment.get(name, "").strip(), []
    for part in value.split(",") if value else ():
        match = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", part)
        if not match or int(match.group(2) or 1) > MOST_NODES:
            raise UserError("%s=%s: Slurm sets it to a list such as 2(x3),1; give -n N" % (name, value))
        numbers += [int(match.group(1))] * int(match.group(2) or 1)
    return numbers


def _lines(environment, name):
    """The hosts that the file lists which a variable names, each with how often. {} if the variable is not set."""
    path, hosts = environment.get(name), {}
    if not path:
        return hosts
    try:
        with open(path) as stream:
            for words in filter(None, map(str.split, stream)):
                hosts[words[0]] = hosts.get(words[0], 0) + 1
    except OSError as error:
        raise UserError("%s=%s: %s; give -n N" % (name, path, error.strerror))
    return hosts


def _of_slurm(environment):
    for name in ("SLURM_NTASKS", "SLURM_NPROCS"):
        ranks = _number(environment, name)
        if ranks:
            return ranks, []
    numbers = per_node(environment, "SLURM_TASKS_PER_NODE") or per_node(environment, "SLURM_JOB_CPUS_PER_NODE")
    return sum(numbers) or None, []


def check_step(environment):
    """Refuses to be one of the tasks of srun: each would start all ranks, and they would wait for each other's resources."""
    tasks = environment.get("SLURM_STEP_NUM_TASKS", "")
    if environment.get("SLURM_JOB_ID") and environment.get("SLURM_STEP_ID") and tasks.isdigit() and int(tasks) > 1:
        raise UserError("srun has started this command %s times, and each would start all ranks; use `orrery run' in the job without srun, "
                        "or srun --mpi=pmix with the program itself (for a run in each task, give -n N)" % tasks)


def _of_file(environment, launcher, name, count):
    hosts = _lines(environment, name)
    if not hosts:
        return _number(environment, count), []
    # As a host file, mpirun would give a host that stands there once as many ranks as it has cores.
    return sum(hosts.values()), [launcher.hosts[0], ",".join("%s:%d" % item for item in hosts.items())]


def _of_lsf(environment, launcher):
    ranks, options = _of_file(environment, launcher, "LSB_DJOB_HOSTFILE", "LSB_DJOB_NUMPROC")
    words = environment.get("LSB_MCPU_HOSTS", "").split()
    if not ranks and words:
        if len(words) % 2 or not all(word.isdigit() for word in words[1::2]):
            raise UserError("LSB_MCPU_HOSTS=%s: LSF sets it to hosts, each with a number; give -n N" % " ".join(words))
        ranks = sum(int(word) for word in words[1::2])
    return ranks, options


def of_job(environment, launcher):
    """(ranks, options for the launcher) of the job; ranks is None if the system does not say it."""
    if environment.get("SLURM_JOB_ID"):
        return _of_slurm(environment)
    if environment.get("PBS_JOBID"):
        return _of_file(environment, launcher, "PBS_NODEFILE", "PBS_NP")
    if environment.get("LSB_JOBID"):
        return _of_lsf(environment, launcher)
    if environment.get("OAR_JOB_ID"):
        return _of_file(environment, launcher, "OAR_NODEFILE", "OAR_NP")
    return None, []


def host_file(words, launcher):
    """The host file that options of the launcher name, or None."""
    for i, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in launcher.host_files:
            return value if equals else words[i + 1] if i + 1 < len(words) else None
    return None


def of_host_file(path, launcher):
    """How many ranks the hosts of a file take, such as slots=N of each. None if one does not say it."""
    total = 0
    try:
        with open(path) as stream:
            for line in stream:
                line = line.split("#")[0].strip()
                match = launcher.slots.search(line)
                if line and not match:
                    return None
                total += int(match.group(1)) if match else 0
    except OSError as error:
        raise UserError("the host file %s: %s" % (path, error.strerror))
    if not total:
        raise UserError("the host file %s names no host" % os.path.abspath(path))
    return total


# Names of this host

def is_this_host(name):
    """Whether a host of that name is this one, with a domain behind it or without."""
    own = os.uname().nodename
    return name in ("localhost", "127.0.0.1") or name == own or name.startswith(own + ".") or own.startswith(name + ".")


# Names of hosts

def _first_words(path):
    try:
        with open(path) as stream:
            lines = [line.split("#")[0].split() for line in stream]
    except OSError:
        return []
    return list(dict.fromkeys(words[0].split(":")[0] for words in lines if words))


def _slots_of_file(path, launcher):
    """{host: the ranks that it takes, 0 if a host file does not say it}."""
    hosts = {}
    try:
        with open(path) as stream:
            for line in stream:
                line = line.split("#")[0].strip()
                match = launcher.slots.search(line)
                if line:
                    hosts[line.split()[0].split(":")[0]] = int(match.group(1)) if match else 0
    except OSError:
        return {}
    return hosts


def slots_of_options(words, launcher):
    """{host: the ranks that it takes, 0 if that is not said} of the hosts that options of the launcher name."""
    path = host_file(words, launcher)
    hosts = _slots_of_file(path, launcher) if path else {}
    for i, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in launcher.hosts:
            value = value if equals else words[i + 1] if i + 1 < len(words) else ""
            for host, _, slots in (item.partition(":") for item in value.split(",") if item):
                hosts[host] = hosts.get(host, 0) + (int(slots) if slots.isdigit() else 1)
    return hosts


def hosts_of_options(words, launcher):
    """The hosts that options of the launcher name, [] if that is not all of them."""
    return list(slots_of_options(words, launcher))


def expand_hosts(text):
    """Slurm's list of nodes: n[1-3,7],m2. [] if it is written another way."""
    hosts, parts = [], re.findall(r"[^,\[]+(?:\[[^\]]*\])?[^,\[]*", text)
    if ",".join(parts) != text:
        return []
    for part in parts:
        match = re.fullmatch(r"([^\[]*)\[([0-9,-]+)\]", part)
        if not match:
            if "[" in part:
                return []
            hosts.append(part)
            continue
        for numbers in match.group(2).split(","):
            first, _, last = numbers.partition("-")
            last = last or first
            if not (first.isdigit() and last.isdigit()) or not 0 <= int(last) - int(first) <= 100000:
                return []
            hosts += [match.group(1) + str(number).zfill(len(first)) for number in range(int(first), int(last) + 1)]
    return hosts


def hosts_of_job(environment):
    """The hosts of the job, [] if they are not said in a way that is known."""
    for name in ("SLURM_JOB_NODELIST", "SLURM_NODELIST"):
        if environment.get("SLURM_JOB_ID") and environment.get(name):
            return expand_hosts(environment[name])
    for name in ("PBS_NODEFILE", "LSB_DJOB_HOSTFILE", "OAR_NODEFILE"):
        if environment.get(name):
            return _first_words(environment[name])
    return environment.get("LSB_MCPU_HOSTS", "").split()[::2]
