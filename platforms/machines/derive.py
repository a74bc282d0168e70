#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Writes the machines of the gallery that were not measured: python3 derive.py
# makes h200x8/ and laptop8/ beside it, from public figures and from what was
# measured on quickstart/. doc/machines.md explains each number.
# Invariant: every duration is a formula of this file; run again, the same bytes.
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = ("dinit", "dpotrf", "dtrsm", "dsyrk", "dgemm", "dresidual")

# Footprints of one, two and three b x b tiles of doubles.
FOOTPRINTS = {
    64: ("1ed3e8c0", "cb098e15", "2f73dd70"), 128: ("7ff173d2", "d81fcf8a", "57225000"),
    256: ("bdb445f6", "fe334cb4", "a7814ae0"), 512: ("27e246ff", "b26a4ac8", "581b1061"),
    960: ("30f2dcea", "6f00d3bc", "753cab6e"), 1024: ("0d922fac", "2ad84630", "b9f3ca22"),
    1536: ("e1f62da2", "a8fd98a7", "131fa6dc"), 1920: ("23b31b86", "8ed11b99", "e3bcbc3c"),
    2048: ("5972fd0a", "05603081", "64fe11e5"), 3072: ("9f669657", "1ff7e2ee", "2ffaa758"),
    4096: ("f0b35846", "5a10dde3", "c039c92a"),
}


def tiles(kernel):
    return {"dinit": (1,), "dpotrf": (1,), "dtrsm": (2,), "dsyrk": (2,), "dgemm": (3,), "dresidual": (2, 3)}[kernel]


def flops(kernel, b):
    return {"dinit": 0, "dpotrf": b ** 3 / 3 + b * b / 2 + b / 6, "dtrsm": b ** 3, "dsyrk": b * b * (b + 1),
            "dgemm": 2 * b ** 3, "dresidual": 2 * b ** 3}[kernel]


def measured(kernel):
    """{tile: microseconds} of quickstart."""
    hashes = {h: b for b, hs in FOOTPRINTS.items() for h in hs}
    times = {}
    with open(os.path.join(HERE, "quickstart", "codelets", "45", "orrery_%s.quickstart" % kernel)) as file:
        for line in file:
            match = re.match(r"([0-9a-f]{8})\s+\d+\s+\S+\s+(\S+)", line)
            if match:
                times[hashes[match.group(1)]] = float(match.group(2))
    return times


def core_model(slower):
    """A core like the measured one, `slower` times as slow; larger tiles at the speed of the largest measured one."""
    def duration(kernel, b):
        times = measured(kernel)
        if b in times:
            return slower * times[b]
        largest = max(times)
        work = (lambda n: n * n) if kernel == "dinit" else (lambda n: flops(kernel, n))
        return slower * times[largest] * work(b) / work(largest)
    return duration


def h200(kernel, b):
    """67 Tflop/s of FP64 tensor cores and 4.8 TB/s (public); share of the peak that libraries reach at size b: assumed."""
    launch, peak = 5.0, 67e6  # us, flop/us
    if kernel == "dinit":
        return launch + 8 * b * b / (0.8 * 4.8e6)
    if kernel == "dpotrf":  # columns one after the other, then the speed of a solver
        return launch + 0.6 * b + flops(kernel, b) / (0.35 * peak)
    share = {"dgemm": 0.90, "dresidual": 0.90, "dsyrk": 0.65, "dtrsm": 0.45}[kernel]
    return launch + flops(kernel, b) / (share * peak) * (1 + 600 / b)


HEAD = """# device type (CPU - 0, CUDA - 1, OPENCL - 2, MPI_MS - 5, HIP - 7)
%d
####################
# DEV_0
# device id 
0
####################
# DEV_0
# number of cores 
1
##########
# number of implementations
1
#####
# Model for %s0_impl0 (Comb%d)
# number of entries
%d
# sumlnx	sumlnx2		sumlny		sumlnxlny	alpha		beta		n	minx		maxx
0.000000000e+00	0.000000000e+00	0.000000000e+00	0.000000000e+00	nan            	nan            	0	0              	0              
# a		b		c
nan            	nan            	nan            
# not multiple-regression-base
0
# hash		size		flops		mean (us or J)	dev (us or J)	sum		sum2		n
"""
BAR = "####################\n"
SAMPLES = 10  # what each derived duration counts for: enough to be believed, little enough to be replaced


def model_text(kernel, units):
    text = "##################\n# Performance Model Version\n45\n\n" + BAR + "# COMBs\n# number of combinations\n%d\n" % len(units)
    for comb, (unit, sizes, duration) in enumerate(units):
        lines = [(FOOTPRINTS[b][n - 1], 8 * b * b * n, flops(kernel, b), duration(kernel, b)) for b in sizes for n in tiles(kernel)]
        text += BAR + "# COMB_%d\n# number of types devices\n1\n" % comb + BAR + "# DEV_0\n"
        text += HEAD % (0 if unit == "cpu" else 1, unit, comb, len(lines))
        for footprint, size, work, us in lines:
            text += "%s\t%-15d\t%.9e\t%.9e\t%.9e\t%.9e\t%.9e\t%d\n" % (
                footprint, size, work, us, 0, us * SAMPLES, us * us * SAMPLES, SAMPLES)
        text += "\n"
    return text


def put(name, path, text):
    path = os.path.join(HERE, name, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def matrix(n, main_out, main_in, peer):
    """Main memory to devices, back, and between devices."""
    rows = ["# " + "".join("to %d\t\t" % j for j in range(32)).rstrip()]
    for i in range(32):
        value = lambda j: 0 if i == j else main_out if i == 0 else main_in if j == 0 else peer
        rows.append("\t".join("%f" % value(j) if i < n and j < n else "nan" for j in range(32)))
    return "\n".join(rows) + "\n"


def memory(gpus, gigabytes, link):
    """Sizes of the devices' memories in GB (10^9 bytes), and MB/s of the way from main memory that all of them share."""
    return "".join("cuda%d %d MiB\n" % (i, gigabytes * 10 ** 9 // 2 ** 20) for i in range(gpus)) + "".join(
        "link_%s %d MB/s\n" % (way, link) for way in ("in", "out"))


def machine(name, cpus, gpus, units, buses, slower, devices=None):
    base = "bus/" + name
    if devices:
        put(name, base + ".memory", "# SPDX-License-Identifier: LGPL-2.1-or-later\n# Data sheets, see doc/machines.md\n" + devices)
    put(name, base + ".config", "# Current configuration\n%d # Number of CPUs\n%d # Number of CUDA devices\n0 # Number of OpenCL devices\n"
        % (cpus, gpus))
    put(name, base + ".bandwidth", matrix(1 + gpus, *buses[0]))
    put(name, base + ".latency", matrix(1 + gpus, *buses[1]))
    near = lambda g: list(range(cpus)) if g < gpus / 2 else list(range(cpus // 2, cpus)) + list(range(cpus // 2))
    put(name, base + ".affinity", "# GPU\t" + "".join("CPU%d\t" % c for c in range(cpus)) + "\n"
        + "".join("%d\t%s\n" % (g, "".join("%d\t" % c for c in near(g))) for g in range(gpus)))
    costs = []
    with open(os.path.join(HERE, "quickstart", "bus", "quickstart.costs")) as file:
        for key, value in (line.split() for line in file if not line.startswith("#")):
            costs.append("%s %.4f\n" % (key, slower * float(value)))
    put(name, base + ".costs", "# SPDX-License-Identifier: LGPL-2.1-or-later\n# Derived: those of quickstart times %.2f\n%s"
        % (slower, "".join(costs)))
    for kernel in KERNELS:
        put(name, "codelets/45/orrery_%s.%s" % (kernel, name), model_text(kernel, units))


def main():
    # Clock under AVX-512 load: 2.1 GHz and 32 flop a cycle, against 2.6 GHz measured.
    slower = 2.6 / 2.1
    machine("h200x8", 96, 8, [("cpu", (64, 128, 256, 512, 960, 1024, 1536, 1920, 2048), core_model(slower)),
                              ("cuda", (256, 512, 960, 1024, 1536, 1920, 2048, 3072, 4096), h200)],
            ((55000, 55000, 370000), (8, 8, 6)), slower, memory(8, 141, 8 * 55000))
    # 3.5 GHz and 16 flop a cycle (AVX2), against 2.6 GHz and 32.
    slower = 2.6 * 32 / (3.5 * 16)
    machine("laptop8", 8, 0, [("cpu", (64, 128, 256, 512, 960, 1024), core_model(slower))], ((0, 0, 0), (0, 0, 0)), 1.0)


if __name__ == "__main__":
    main()
