# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Sourced by scripts that look for processes. They read /proc: ps and pgrep belong to no base system.
# Invariant: nothing happens when it is sourced.

# children PID: the processes that it started and that are there.
children() {
	cat /proc/[0-9]*/stat 2> /dev/null | sed -n "s/^\([0-9]*\) (.*) [A-Za-z] $1 .*/\1/p"
}

# processes_like REGEX: lines "PID COMMAND" of those whose command, with its arguments, matches.
processes_like() {
	"${PYTHON:-python3}" - "$1" <<- 'END'
	import glob, os, re, sys
	for path in glob.glob("/proc/[0-9]*/cmdline"):
	    pid = path.split("/")[2]
	    try:
	        with open(path, "rb") as stream:
	            words = stream.read().decode(errors="replace").split("\0")
	    except OSError:
	        continue  # it has just ended
	    command = " ".join(words).strip()
	    if int(pid) != os.getpid() and re.search(sys.argv[1], command):
	        print(pid, command)
	END
}
