# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery doctor`: checks the hosts of a run before the first one, and says what is wrong
# where, what follows from it, and what to do.
# Invariant: nothing on the hosts is changed, and nothing stays there; each step has a time
# limit. The exit status is 0 if nothing is wrong, 1 if something is, 2 for a mistake on the
# command line.
import json
import os
import shlex
import socket
import sys
import textwrap
import time

import orrery_doctor_checks as checks
import orrery_doctor_links as links_of
import orrery_jobs
import orrery_launchers
from orrery_cli import UserError
from orrery_doctor_reach import Failed, Session, agent_of, end, in_parallel, open_all, script
from orrery_run import has_hosts
from orrery_words import Word, parse as read_words, usage

OPTIONS = [
    Word("--host", "A,B", "these hosts (default: those of the job of Slurm, PBS, LSF or OAR,\nelse this computer)"),
    Word("--hostfile", "FILE", "those of a host file, as --mpirun \"--hostfile FILE\" takes it"),
    Word("--agent", "COMMAND", "what reaches a host, called as COMMAND HOST WORDS (default: what mpirun uses:\nplm_rsh_agent of Open MPI, ssh, rsh; in a job of Slurm srun)"),
    Word("--mpirun", "OPTIONS", "further options for mpirun, as of `orrery run`: networks, environment"),
    Word("--ports", "A-B", "the range of ports that the firewall lets through: tests it, and keeps MPI to it"),
    Word("--platform", "FILE", "compare links with this platform file of `orrery calibrate --network`"),
    Word("--timeout", "S", "seconds that a host may take for an answer (default 10)", "10"),
    Word("--quick", "", "start no MPI: what hosts say of themselves, and TCP between them"),
    Word("--json", "", "print an object of JSON instead: hosts, fine, defects, notes, links"),
]
HELP = """usage: orrery doctor [--host A,B | --hostfile FILE] [--agent COMMAND] [--mpirun "OPTIONS"]
                     [--ports A-B] [--platform FILE] [--timeout S] [--quick] [--json]

Checks the hosts of a run before the first one: whether each is reached, has the same
build of Orrery and the same MPI, knows names, allows what ranks need (open files, memory,
cores), has a clock that agrees and a calibration of its own; whether each pair can talk,
how fast, and whether MPI and the runtime work on all of them together. Prints a line for
each check that is fine, and for each defect what is wrong where, what follows from it,
and the remedy. Nothing is changed.

%s

The exit status is 0 if nothing is wrong, 1 if there is a defect, 2 if the command line is
wrong. Notes do not count.
""" % usage(OPTIONS, 20)
CLOCK_TURNS = 5
SLOW_PART = 0.5  # of the time limit, which a host may take before it is called slow


def read_range(text):
    first, dash, last = text.partition("-")
    if not dash or not first.isdigit() or not last.isdigit() or not 1 <= int(first) <= int(last) <= 65535:
        raise UserError("--ports %s: expected a range such as 20000-20199" % text)
    if int(last) - int(first) < 9:
        raise UserError("--ports %s: MPI takes several ports for each rank; give at least 10, better 200" % text)
    return int(first), int(last)


def read_seconds(text):
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 1 <= value <= 600:
        raise UserError("--timeout %s: expected a number of seconds, from 1 to 600" % text)
    return value


def host_names(options, launcher):
    """(names in their order, each as often as it is there, where they come from)"""
    if "--host" in options and "--hostfile" in options:
        raise UserError("--host and --hostfile both name hosts; give one of them")
    if "--host" in options:
        names = [word.split(":")[0] for word in options["--host"].split(",")]
        if not all(names) or any(c.isspace() or c == "/" for name in names for c in name) or any(name.startswith("-") for name in names):
            raise UserError("--host %s: expected names of hosts with commas between them" % options["--host"])
        return names, "--host"
    if "--hostfile" in options:
        path = options["--hostfile"]
        try:
            with open(path) as stream:
                lines = [line.split("#")[0].split() for line in stream]
        except OSError as error:
            raise UserError("--hostfile %s: %s" % (path, error.strerror)) from None
        except UnicodeDecodeError:
            raise UserError("--hostfile %s: it is no text" % path) from None
        names = [words[0].split(":")[0] for words in lines if words]
        if not names:
            raise UserError("--hostfile %s: it names no host" % path)
        return names, path
    if orrery_jobs.in_job(os.environ):
        names = orrery_jobs.hosts_of_job(os.environ)
        if not names:
            raise UserError("the job does not say its hosts in a way that is known; give --host A,B")
        return list(dict.fromkeys(names)), "the job"
    return [socket.gethostname()], "this computer"


def parse(context, arguments):
    options, _ = read_words(OPTIONS, arguments, "orrery doctor")
    options["--timeout"] = read_seconds(options["--timeout"])
    options["--ports"] = read_range(options["--ports"]) if "--ports" in options else (0, 0)
    try:
        options["--mpirun"] = shlex.split(options.get("--mpirun", ""))
        shlex.split(options.get("--agent", ""))
    except ValueError as error:
        raise UserError("--mpirun or --agent: %s" % error) from None
    mpiexec, launcher = orrery_launchers.find(context) if context.has("mpi") else (None, orrery_launchers.OPEN_MPI_4)
    if "--quick" in options and "--platform" in options:
        raise UserError("--platform compares what MPI measures, and --quick starts no MPI; leave one of them out")
    if has_hosts(launcher, [word for word in options["--mpirun"] if word.startswith("-")]):
        raise UserError("--mpirun names hosts; give them by --host or --hostfile")
    return options, mpiexec, launcher


class Progress:
    """What is being done just now, on a terminal only."""

    def __init__(self, quiet):
        self.shown, self.width = sys.stderr.isatty() and not quiet, 0

    def __call__(self, text):
        if self.shown:
            line = "orrery doctor: " + text + " ..."
            sys.stderr.write("\r" + line[:119].ljust(self.width))
            sys.stderr.flush()
            self.width = min(119, len(line))

    def clear(self):
        if self.shown and self.width:
            sys.stderr.write("\r" + " " * self.width + "\r")
            sys.stderr.flush()


def clock_offset(session, limit):
    """Seconds by which its clock is ahead of this computer's, of the quickest answer."""
    best = None
    for _ in range(CLOCK_TURNS):
        before = time.time()
        answer = session.ask("time", limit)[0]
        after = time.time()
        if best is None or after - before < best[0]:
            best = after - before, float(answer.split()[1]) - (before + after) / 2
    return best[1]


def look_at_homes(sessions, limit):
    """{name: (answer, whether it sees the file of the first host that made one)}; the files are removed again."""
    answers = dict(zip([s.name for s in sessions], in_parallel(lambda s: s.ask("home", limit)[0], sessions)))
    kept = {name: answer.split(" ", 1)[1] for name, answer in answers.items() if answer.startswith("kept ")}
    first = next(iter(kept.values()), None)
    seen = {}
    for session in sessions:
        there = bool(first) and session.ask("look " + first, limit)[0] == "there"
        seen[session.name] = (answers[session.name], there)
    for session in sessions:
        if session.name in kept:
            session.ask("drop " + kept[session.name], limit)
    return seen


def reach(found, sessions, agent, lack, text, limit):
    """The sessions that answer."""
    others = [session for session in sessions if not orrery_jobs.is_this_host(session.name)]
    if others and lack:
        for session in others:
            found.defect("reach", session.name, "%s, which reaches other hosts" % lack, "mpirun cannot start a rank there",
                         "install it (Debian: openssh-client), or name another one by --agent and OMPI_MCA_plm_rsh_agent")
        sessions = [session for session in sessions if session not in others]
    open_all(sessions, agent, text, limit)
    for session in sessions:
        if session.failed:
            found.defect("reach", session.name, str(session.failed), "no rank can be started there", session.failed.remedy)
        elif session.took > SLOW_PART * limit:
            found.defect("reach", session.name, "it took %.1f s to answer" % session.took, "each start of a run takes that long, and mpirun may give up",
                         "look at its load, and whether its sshd looks up names (UseDNS no)")
    alive = [session for session in sessions if not session.failed]
    if others and alive:
        found.is_fine("reach", "%d host%s by %s, %s s" % (len(alive), "s" * (len(alive) > 1), agent[0], checks.span([s.took for s in alive], "%.2g")))
    return alive


def ask_all(found, sessions, question):
    """{name: answer} of the sessions that answer."""
    def ask(session):
        try:
            return question(session)
        except Failed as failed:
            found.defect("reach", session.name, "%s" % failed, "nothing more is known of it", failed.remedy)
            return None
    return {s.name: answer for s, answer in zip(sessions, in_parallel(ask, sessions)) if answer is not None}


def examine(context, options, names, here, say):
    """All checks. Answers (findings, links, what starts MPI)."""
    found, links, limit, mpi = checks.Findings(), links_of.Links(), options["--timeout"], None
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            found.defect("hosts", name, "stands %d times in the list" % names.count(name), "mpirun starts that many times as many ranks there",
                         "name it once; `%s:2', or slots=2 in a host file, says that two ranks are meant" % name)
    names = list(dict.fromkeys(names))
    sessions = [Session(name) for name in names]
    agent, lack = agent_of(os.environ, options.get("--agent"))
    say("reaching %d host%s" % (len(names), "s" * (len(names) > 1)))
    try:
        alive = reach(found, sessions, agent, lack, script(context), limit)
        say("asking about builds, limits, cores")
        hosts = ask_all(found, alive, lambda s: s.facts(limit))
        alive = [s for s in alive if s.name in hosts]
        if not alive:
            return found, links, None
        checks.check_twice(found, hosts)
        own = here.facts(limit)
        checks.check_build(found, own, hosts, context.settings["version"])
        if context.has("mpi"):
            mpi = links_of.Mpi(context, [s.name for s in alive], options["--mpirun"], options["--ports"], limit)
            mpi.version = checks.check_mpi(found, own, hosts, mpi.launcher, mpi.mpiexec)
        checks.check_names(found, hosts)
        checks.check_limits(found, hosts)
        checks.check_memory(found, hosts)
        checks.check_cores(found, hosts, orrery_jobs.in_job(os.environ))
        say("clocks and homes")
        others = [s for s in alive if not orrery_jobs.is_this_host(s.name)]
        offsets = ask_all(found, others, lambda s: clock_offset(s, limit))
        offsets[""] = 0.0
        checks.check_clocks(found, offsets)
        alive = [s for s in alive if not s.failed]
        checks.check_home(found, hosts, look_at_homes(alive, limit))
        checks.check_calibration(found, hosts)
        calibrated = links_of.read_platform(options["--platform"]) if "--platform" in options else None
        if len(alive) > 1:
            links_of.tcp(found, links, alive, options["--ports"], limit, say)
        if "--quick" not in options:
            examine_mpi(found, links, mpi, calibrated, options, say)
    except Failed as failed:
        found.defect("reach", None, "a host has stopped answering: %s" % failed, "nothing more could be checked", failed.remedy)
    finally:
        for session in sessions:
            session.close()
    return found, links, mpi


def examine_mpi(found, links, mpi, calibrated, options, say):
    if not mpi:
        found.note("MPI", None, "this Orrery was built without it", "programs run on one host only", "install an MPI and configure again")
    elif links.broken or found.accused("MPI") or found.accused("build") or any(f.check == "reach" for f in found.defects):
        found.note("MPI", None, "not started, because of the defects above", "its links and transports are not known yet", "repeat this when they are mended")
    elif links_of.measure_mpi(found, links, mpi, say):
        if links.mpi:
            links_of.compare(found, links, mpi, calibrated, options.get("--platform"), say)
        links_of.show_mpi(found, links, mpi)
        links_of.measure_runtime(found, mpi, say)


# ---- the report ----

def shorten(names):
    return " ".join(names[:8]) + (" and %d more" % (len(names) - 8) if len(names) > 8 else "")


def show(found, names, origin, mpi):
    names = list(dict.fromkeys(names))
    print("%d host%s (%s): %s" % (len(names), "s" * (len(names) > 1), origin, shorten(names)))
    for check, text in found.fine:
        print("  %-12s %s" % (check, text))
    for kind, title in ((found.notes, "note"), (found.defects, "DEFECT")):
        for f in kind:
            where = ", " + shorten(f.hosts) if f.hosts else ""
            head = "%s %s%s: %s; %s." % (title, f.check, where, f.what, f.consequence)
            print(textwrap.fill(head, 118, subsequent_indent="    ", break_on_hyphens=False, break_long_words=False))
            print(textwrap.fill("    remedy: " + f.remedy, 118, subsequent_indent="    ", break_on_hyphens=False, break_long_words=False))
    if found.defects:
        print("%d defect%s" % (len(found.defects), "s" * (len(found.defects) > 1)))
    else:
        print("no defect" + ("; " + links_of.options_for(mpi) if mpi and len(names) > 1 else ""))


def as_json(found, links, names, origin):
    def rows(kind):
        return [{"check": f.check, "hosts": f.hosts, "what": f.what, "consequence": f.consequence, "remedy": f.remedy} for f in kind]
    pairs = [{"layer": layer, "from": a, "to": b, "latency_us": value[0], "bytes_per_s": value[1]}
             for layer in ("tcp", "mpi") for (a, b), value in sorted(getattr(links, layer).items())]
    return {"hosts": list(dict.fromkeys(names)), "origin": origin, "fine": [{"check": check, "text": text} for check, text in found.fine],
            "defects": rows(found.defects), "notes": rows(found.notes), "links": pairs}


def main(context, arguments):
    if arguments and arguments[0] in ("-h", "--help"):
        sys.stdout.write(HELP)
        return 0
    options, _, launcher = parse(context, arguments)
    if "--platform" in options:
        links_of.read_platform(options["--platform"])  # before anything takes time
    names, origin = host_names(options, launcher)
    say = Progress("--json" in options)
    here = Session("this computer")
    try:
        here.open(None, script(context), 3 * options["--timeout"])
        found, links, mpi = examine(context, options, names, here, say)
    except Failed as failed:
        if here.child:
            end(here.child)
        raise UserError("this computer itself does not answer: %s; %s" % (failed, failed.remedy), 1) from None
    finally:
        here.close()
        say.clear()
    if "--json" in options:
        print(json.dumps(as_json(found, links, names, origin), indent=2))
    else:
        show(found, names, origin, mpi)
    return 1 if found.defects else 0
