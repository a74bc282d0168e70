# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The table of sim_releases.sh: results of several builds side by side. Arguments are their files.
# Each build is compared with the first that has the simulation. The status is 1 where virtual times
# differ by more than 0.1 %, where other messages were sent, or where a simulation failed or is missing.
import sys


def read(path):
    with open(path) as f:
        return {line.split(";")[0]: line.rstrip("\n").split(";")[1:] for line in f}


def number(row):
    try:
        return float(row[0])
    except ValueError:
        return None


def compare(first, row):
    """The words for a build beside the first one, and whether it is right."""
    if row is None or row[0] == "failed":
        return "failed" if row else "missing", False
    if row[0] == "refused":
        return "refused", True
    if first is row:
        return "-", True
    off = 100 * (number(row) / number(first) - 1)
    if row[1] != first[1]:
        return "%+.4f OTHER MESSAGES" % off, False
    words = "messages: same" if row[1] != "0" else "own MPI"
    if row[1] != "0" and row[2] == first[2]:
        words = "messages and times: same"
    return "%+.4f %s" % (off, words), abs(off) <= 0.1 and row[1] != "none"


def main(paths):
    builds = [read(path) for path in paths]
    bad = refused = 0
    for letter, path in zip("ABCDEFGH", paths):
        print("%s = %s" % (letter, path))
    letters = "ABCDEFGH"[:len(paths)]
    print("%-31s %13s" % ("simulation", "virtual s") + "".join("  %-31s" % (x + ", % off A") for x in letters[1:])
          + "".join("  %8s %5s" % (x + ", s", "MB") for x in letters))
    names = list(dict.fromkeys(name for build in builds for name in build))
    for name in names:
        rows = [build.get(name) for build in builds]
        first = next((row for row in rows if row and number(row) is not None), None)
        told = [compare(first, row) for row in rows]
        bad += not all(right for _, right in told)
        refused += any(words == "refused" for words, _ in told)
        print("%-31s %13s" % (name, first[0] if first else "-") + "".join("  %-31s" % words for words, _ in told[1:])
              + "".join("  %8s %5s" % tuple(row[3:5] if row and len(row) > 4 else ("", "")) for row in rows))
    print("%d simulations, %d of them differ or failed, %d are refused by one" % (len(names), bad, refused))
    return bad > 0


sys.exit(main(sys.argv[1:]))
