#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Communication matrices under the tool's known name: the same as `orrery matrix`,
# usually given the output of a run with STARPU_MPI_STATS=1.
# Invariant: `make` replaces the first line and the line of TOOLS.
import os
import sys

sys.dont_write_bytecode = True
TOOLS = ""

here = os.path.dirname(os.path.realpath(__file__))
for folder in (here, os.path.join(here, "..", "share", "orrery", "tools"), TOOLS):
    if os.path.exists(os.path.join(folder, "orrery_matrix.py")):
        sys.path.insert(0, folder)
        break
try:
    import orrery_cli
    import orrery_matrix
except ImportError as error:
    sys.exit("starpu_mpi_comm_matrix.py: %s; %s should hold the tools of Orrery: install it again" % (error, TOOLS or here))

HELP = """usage: starpu_mpi_comm_matrix.py STATS [-o DIR] [--prefix P] [--title TEXT]

Draws the communication matrices of a run as PDF and PNG: bandwidth and volume,
and the number of messages if STATS has it. STATS is the output of a run with
STARPU_MPI_STATS=1, or the CSV file of `orrery sim --stats`; - is standard input.
See orrery-matrix(1).
"""


def main():
    if sys.argv[1:2] in (["-h"], ["--help"]):
        sys.stdout.write(HELP)
        return 0
    try:
        return orrery_matrix.main(None, sys.argv[1:])
    except orrery_cli.UserError as error:
        sys.stderr.write("starpu_mpi_comm_matrix.py: %s\n" % error)
        return error.status
    except OSError as error:
        sys.stderr.write("starpu_mpi_comm_matrix.py: %s: %s\n" % (error.filename or "system error", error.strerror))
        return 1


sys.exit(main())
