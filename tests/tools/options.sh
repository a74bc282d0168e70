# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The options of `orrery sim` come from one table (sim/launcher/options.def): the command and the launcher know the same ones and refuse
# the same values in the same words, the manual page is up to date, and no document names an option that does not exist.
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

"$PYTHON" "$ORR_TEST_SRCDIR/build-aux/man-options" --check || die "the manual page is out of date"

cat > options.py << 'END'
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
source, build, orrery, simulated = sys.argv[1:5]
sys.path.insert(0, os.path.join(source, "tools"))
import orrery_cli
import orrery_options
import orrery_sim

OPTIONS = orrery_options.read(os.path.join(source, orrery_options.TABLE))
LAUNCHER = os.path.join(build, ".libs", "orrery-sim-launcher")
WRAPPER = "orrery sim"
WORLDS = ([(WRAPPER, 2)] if not simulated else [(WRAPPER, 2), (LAUNCHER, 1)])


def run(*command):
    environment = dict(os.environ, LD_LIBRARY_PATH=os.path.join(build, ".libs"))
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def refusal(command, *arguments):
    """Exit status and message of the launcher; those that the command would have, without starting it each time."""
    if command == LAUNCHER:
        end = run(LAUNCHER, *arguments)
        return end.returncode, end.stderr
    try:
        orrery_sim.parse(OPTIONS, arguments)
    except orrery_cli.UserError as error:
        return error.status, "orrery sim: %s\n" % error
    return 0, ""


def words(text):
    return " ".join(text.split())


def usages():
    """Each text for --help has each option with all of its help, and the launcher's no other ones."""
    texts = [(run(orrery, "sim", "--help").stdout, OPTIONS)]
    if simulated:
        texts.append((run(LAUNCHER, "--help").stdout, [o for o in OPTIONS if o.handler == "LAUNCHER"]))
    for text, options in texts:
        assert max(map(len, text.split("\n"))) <= 80
        for option in options:
            assert option.name in text and words(option.help) in words(text), (option.name, text)
        assert len(re.findall("^  -", text, re.MULTILINE)) == len(options), text


def wrong_values(option):
    if option.kind == "CHOICE":
        return ["", "x", option.value, option.value.split("|")[0] + "x", option.value.split("|")[0][:-1]]
    if option.kind == "WHOLE":
        return ["", "x", "-1", "1.5", "0x1", "+1", " 1", str(int(option.least) - 1), str(int(option.most) + 1), "9" * 30, "9" * 5000]
    if option.kind in ("NUMBER", "FACTOR"):
        most = [] if option.most > 1e300 else ["%.17g" % (option.most * 1.001)]
        return ["", "x", "-1", "1x", "nan", "inf", "1e999", "%.17g" % (option.least - 1e-4)] + most
    return []


def right_values(option):
    if option.kind == "CHOICE":
        return option.value.split("|")
    if option.kind == "WHOLE":
        return [str(int(option.least)), str(int(option.most))]
    if option.kind in ("NUMBER", "FACTOR"):
        return ["%.17g" % option.least, "%.17g" % min(option.most, 1e300), "%.17g" % option.least + "e0"]
    return []


def refusals():
    """The command and the launcher say the same of a wrong value, and let a right one pass to the next mistake."""
    next_mistake = "no program given; usage: orrery sim -n N PROGRAM.sim [ARGS]"
    tried, seen = 0, set()
    for option in OPTIONS:
        alike = (option.kind, option.least, option.most, option.what)  # others like this one: two values are enough
        for name in option.names:
            pairs = [(value, "%s %s: expected %s" % (option.name, value, option.expected())) for value in wrong_values(option)]
            pairs += [(value, next_mistake) for value in right_values(option) if option.name != "--jobs"]
            for value, message in pairs[:1] + pairs[-1:] if alike in seen else pairs:
                given = [name + "=" + value] if name.startswith("--") and (tried % 2 or option.kind == "FACTOR") else [name, value]
                for command, status in WORLDS:
                    if command == WRAPPER or option.handler == "LAUNCHER":
                        end = refusal(command, *given)
                        assert end == (status, "orrery sim: %s\n" % message), (command, given, message, end)
                tried += 1
        seen.add(alike)
    print("%d values" % tried)
    assert tried > 120


def missing():
    """An option without its value, or a flag with one, and options of others."""
    for option in OPTIONS:
        for command, status in WORLDS:
            if option.kind == "FLAG":
                word, says = option.name + "=1", "%s=1: %s takes no value" % (option.name, option.name)
            else:
                word, says = option.name, "%s needs %s after it" % (option.name, option.what)
            if command == LAUNCHER and option.handler == "WRAPPER":
                says = "unknown option %s; see" % option.name
            for given, message in (word, says), (option.name + "x", "unknown option %sx; see" % option.name):
                end = refusal(command, given)
                if option.kind != "FACTOR" or given != word:
                    assert end[0] == status and end[1].startswith("orrery sim: " + message), (command, given, message, end)
    end = run(orrery, "sim", "--jobs", "0")
    assert (end.returncode, end.stderr) == refusal(WRAPPER, "--jobs", "0"), end


def documents():
    for folder in ("", "doc", "doc/man", "examples", "tests"):
        for name in sorted(os.listdir(os.path.join(source, folder))):
            if name.endswith((".md", ".1")):
                with open(os.path.join(source, folder, name), encoding="utf-8") as file:
                    text = re.sub(r"\\f.|\\&", "", file.read().replace("\\-", "-"))
                    text = re.sub("#SBATCH[^`\n]*", "", text)  # options of sbatch
                    yield os.path.join(folder, name), re.sub('--mpirun "[^"]*"', "--mpirun", text)


def sources():
    """The text of what else takes options: other subcommands, examples, scripts, configure."""
    for folder in ("tools", "examples", "tests/fidelity", "tests/bench", "doc", "m4", "build-aux", "."):
        for place, folders, names in os.walk(os.path.join(source, folder)):
            if folder == ".":
                del folders[:]
            for name in names:
                if name.endswith((".py", ".c", ".m4", ".ac", ".sh")) or name in ("quickstart", "format", "floors", "man-options", "packages", "package-files", "compare-abi", "install-names"):
                    with open(os.path.join(place, name), encoding="utf-8", errors="replace") as file:
                        yield file.read()


def mentions():
    """Documents name only options that exist: after `orrery sim` those of the table, elsewhere any of this tree."""
    known = {name for option in OPTIONS for name in option.names}
    text = "\n".join(sources())
    everybody = set(re.findall(r"--[a-z][a-z-]*[a-z]", text)) | {"--args", "--dependency", "--add-architecture"}  # of gdb, sbatch and dpkg
    everybody |= {"--use-paje-trace", "--test-dir", "--rm"}  # of another tool, of ctest, and of podman
    everybody |= {"--enable-nmad", "--enable-verbose"}  # of StarPU's configure: documents say that they are not here
    everybody |= {"--enable-" + name for name in re.findall(r"AC_ARG_ENABLE\(\[([a-z-]*)\]", text)}
    everybody |= {"--with-" + name for name in re.findall(r"AC_ARG_WITH\(\[([a-z-]*)\]", text)}
    everybody |= {"--without-" + name for name in re.findall(r"AC_ARG_WITH\(\[([a-z-]*)\]", text)}
    found = 0
    for name, document in documents():
        for command in re.findall(r"orrery sim ((?:[^`\n]|\\\n)*)", document):
            for option in re.findall(r"(?:^|\s)(--?[a-z][a-z-]*)", command.split(".sim")[0]):
                assert option in known | {"--help"}, (name, option, command)
                found += 1
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z](?![a-z-])", document):
            assert option in known | everybody, (name, option)
            found += 1
    print("%d options in documents" % found)
    assert found > 100


usages()
refusals()
missing()
mentions()
END
if [ "$ORR_TEST_SIM" = yes ]; then simulated=yes; else simulated=; fi
"$PYTHON" options.py "$ORR_TEST_SRCDIR" "$ORR_TEST_BUILDDIR" "$ORRERY" "$simulated" || die "the options of \`orrery sim\`"
