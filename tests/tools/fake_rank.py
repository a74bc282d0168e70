# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Compares what ranks that were played alone say with what the whole run says of them:
#     fake_rank.py WHOLE RANK=ALONE...
# WHOLE and each ALONE stand for two files, .csv of --stats and .jsonl of --statistics, and ALONE.err has what the
# run printed on standard error.
# Invariant: exit status 1, and a line that names the difference, unless all agrees.
import collections
import json
import re
import sys

PEER = ("logical_bytes", "logical_messages", "received_bytes", "received_messages")
HELD = ("inserted", "own", "own_bytes", "copies_bytes")


def differ(text, *args):
    print(text % args)
    sys.exit(1)


def same(what, whole, alone):
    if whole != alone:
        differ("%s: the whole run says %r, the rank alone %r", what, whole, alone)


def matrix(path):
    """{(src, dst): (bytes, messages)} of who needs whose data, and the comments."""
    rows, about, columns = {}, {}, None
    with open(path, encoding="utf-8") as stream:
        for line in stream:
            name, colon, value = line[2:].strip().partition(":")
            if line.startswith("#"):
                about[name if colon else "stats"] = value.strip() or name
            elif columns is None:
                columns = line.strip().split(",")
            else:
                row = dict(zip(columns, line.strip().split(",")))
                pair = int(row["src"]), int(row["dst"])
                if pair in rows:
                    differ("%s has the pair %s twice", path, pair)
                rows[pair] = int(row["logical_bytes"]), int(row["logical_messages"])
    return {pair: row for pair, row in rows.items() if row[1]}, about


def records(path):
    """{rank: {what: [record, ...]}}."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    with open(path, encoding="utf-8") as stream:
        for record in map(json.loads, stream):
            if "rank" in record:
                found[record["rank"]][record["what"]].append(record)
    return found


def printed(path):
    """The table for people: {peer or "total": (messages to, bytes to, messages from, bytes from)}."""
    text = open(path, encoding="utf-8").read()
    head, _, rest = text.partition("peer   messages to")
    if not rest:
        differ("%s has no table", path)
    widths = {len(line) for line in rest.splitlines()[1:] if re.match(r" +(?:\d+|total) ", line)}
    if len(widths) != 1:
        differ("the lines of the table in %s have the lengths %s", path, sorted(widths))
    rows = re.findall(r"^ +(\d+|total) +(\d+) +(\d+) +(\d+) +(\d+)$", rest, re.M)
    held = re.search(r"alone: owns at most (\d+) bytes of data, and keeps at most (\d+) bytes of others' values", head)
    return {who: tuple(map(int, numbers)) for who, *numbers in rows}, [int(n) for n in held.groups()]


def compare(rank, whole, alone, rows, of_whole):
    mine, about = matrix(alone + ".csv")
    same("rank %d, row and column" % rank, {pair: row for pair, row in rows.items() if rank in pair}, mine)
    if not re.fullmatch(r"rank %d of \d+" % rank, about.get("alone", "")):
        differ("%s.csv does not name the rank that it is of: %s", alone, about)
    if not any(rank == src for src, _ in mine) or not any(rank == dst for _, dst in mine):
        differ("rank %d sends or receives nothing, which compares nothing", rank)
    of_alone = records(alone + ".jsonl")
    if list(of_alone) != [rank]:
        differ("%s.jsonl is of the ranks %s", alone, sorted(of_alone))
    for what, fields in ("messages", HELD), ("process", ("submitted",)):
        ours, theirs = ([{name: r[name] for name in fields} for r in of[rank][what]] for of in (of_whole, of_alone))
        same("rank %d, %s" % (rank, what), ours, theirs)
    if not theirs[0]["submitted"]:
        differ("rank %d has no tasks, which compares nothing", rank)
    ours, theirs = ({r["peer"]: tuple(r[name] for name in PEER) for r in of[rank]["peer"] if any(r[name] for name in PEER)}
                    for of in (of_whole, of_alone))
    same("rank %d, peers" % rank, ours, theirs)
    # The records are the rows and columns of the matrix.
    same("rank %d, records" % rank, {(rank, peer): r[:2] for peer, r in theirs.items() if r[1]} |
         {(peer, rank): r[2:] for peer, r in theirs.items() if r[3]}, mine)
    table, held = printed(alone + ".err")
    expected = {str(peer): (r[1], r[0], r[3], r[2]) for peer, r in theirs.items()}
    expected["total"] = tuple(sum(column) for column in zip(*expected.values()))
    same("rank %d, the table" % rank, expected, table)
    same("rank %d, bytes held" % rank, [of_whole[rank]["messages"][0][name] for name in HELD[2:]], held)


def main(whole, words):
    rows, _ = matrix(whole + ".csv")
    of_whole = records(whole + ".jsonl")
    sent, received = collections.Counter(), collections.Counter()
    for rank, of in of_whole.items():
        for r in of["peer"]:
            sent[rank, r["peer"]] += r["logical_messages"]
            received[r["peer"], rank] += r["received_messages"]
    same("all that was sent (here: whole) and received (alone)", +sent, +received)
    for word in words:
        rank, _, alone = word.partition("=")
        compare(int(rank), whole, alone, rows, of_whole)
    print("%s: %d ranks, %d pairs; compared: %s" % (whole, len(of_whole), len(rows), " ".join(words)))


main(sys.argv[1], sys.argv[2:])
