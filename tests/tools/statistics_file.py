# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Compares a file of --statistics with the manual and with what the run printed:
#     statistics_file.py MANUAL FILE.jsonl STDERR RANKS
# The tables of workers and buses are in workers[.RANK] and buses[.RANK].
# Invariant: exit status 1, and a line that names the difference, unless all agrees.
import collections
import json
import os
import re
import sys

COMMON = {"what", "rank", "start"}


def documented(manual):
    """The fields of each kind of record, by the table of the manual."""
    text = open(manual, encoding="utf-8").read().split("## Statistics as a file", 1)[1].split("\n## ", 1)[0]
    kinds = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 3 and re.fullmatch("`[a-z]+`", cells[0]) and cells[0] != "`what`":
            fields = re.sub(r"\([^()]*\)", "", re.sub(r"\[[^]]*\]\([^)]*\)", "", cells[1]))
            kinds[cells[0].strip("`")] = set(re.findall("`([a-z_]+)`", fields))
    return kinds


def differ(text, *args):
    print(text % args)
    sys.exit(1)


def same(what, printed, recorded):
    if printed != recorded:
        differ("%s: printed %r, in the file %r", what, printed, recorded)


def table(name, rank, ranks):
    path = name if ranks == 1 else "%s.%d" % (name, rank)
    return open(path, encoding="utf-8").read() if os.path.exists(path) else ""


def main(manual, path, stderr, ranks):
    kinds = documented(manual)
    if len(kinds) != 7:
        differ("the manual lists %s", sorted(kinds))
    records = collections.defaultdict(list)
    with open(path, encoding="utf-8") as stream:
        for number, line in enumerate(stream):
            record = json.loads(line)
            what = record["what"]
            if (number == 0) != (what == "run"):
                differ("line %d is %s", number + 1, what)
            fields = set(record) - (COMMON if what != "run" else {"what"})
            missing = kinds[what] - fields
            if missing or (what != "run" and fields != kinds[what]):
                differ("%s: fields that are missing: %s; that the manual lacks: %s", what, sorted(missing), sorted(fields - kinds[what]))
            records[what].append(record)
    same("ranks", list(range(ranks)), sorted(r["rank"] for r in records["process"]))
    said = open(stderr, encoding="utf-8").read()
    for rank in range(ranks):
        own = {what: [r for r in records[what] if r["rank"] == rank] for what in kinds if what != "run"}
        process = own["process"][0]
        workers = table("workers", rank, ranks)
        printed = re.findall(r"^\t(\S.*?) +(\d+) tasks(?:, ([0-9.]+) J)?$", workers, re.M)
        same("workers of rank %d" % rank, [(n, int(t), j) for n, t, j in printed],
             [(r["name"], r["tasks"], "" if r["energy_j"] is None else "%.6f" % r["energy_j"]) for r in own["worker"]])
        energy = re.findall(r"^\tenergy, with the idle machine ([0-9.]+) J$", workers, re.M)
        same("energy of rank %d" % rank, energy, [] if process["energy_j"] is None else ["%.6f" % process["energy_j"]])
        same("number of workers", len(printed), process["workers"])
        if sum(r["tasks"] for r in own["worker"]) > process["tasks"] or process["tasks"] != process["submitted"]:
            differ("tasks: %s", process)
        for r in own["worker"]:
            times = [r[name] for name in r if name.endswith("_s")]
            if None in times or not 0 < sum(times) <= process["seconds"] * 1.01 + 1e-6:
                differ("worker: times %s in %s s", times, process["seconds"])
        printed = re.findall(r"^\t(\S.*?) +-> (\S.*?) +([0-9.]+) MB +(\d+) transfers", table("buses", rank, ranks), re.M)
        same("buses of rank %d" % rank, [(a, b, m, int(n)) for a, b, m, n in printed],
             [(r["from_name"], r["to_name"], "%.3f" % (r["bytes"] / 1e6), r["copies"]) for r in own["bus"]])
        printed = {int(peer): float(n) for peer, n in re.findall(r"\[starpu_comm_stats\]\[%d:(\d+)\]\t([0-9.]+) B" % rank, said)}
        same("messages of rank %d" % rank, printed, {r["peer"]: float(r["program_bytes"]) for r in own["peer"] if r["program_bytes"]})
        printed = [float(n) for n in re.findall(r"\[starpu_comm_stats\]\[%d\] TOTAL:\t([0-9.]+) B" % rank, said)]
        same("all messages of rank %d" % rank, printed, [float(r["program_bytes"]) for r in own["messages"]])
    printed = re.findall(r"^\t(\S.*?) +([0-9.]+) MB in use(?: of ([0-9.]+) MB)?, (\d+) evictions$", said, re.M)
    same("memory", sorted((n, u, t, int(e)) for n, u, t, e in printed),
         sorted((r["name"], "%.3f" % (r["used_bytes"] / 1e6), "" if r["total_bytes"] is None else "%.3f" % (r["total_bytes"] / 1e6),
                 r["evictions"]) for r in records["memory"]))
    print("%s: %s" % (path, ", ".join("%d %s" % (len(records[what]), what) for what in kinds)))


main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
