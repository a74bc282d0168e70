# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random copies to the GPUs of a random machine, for gpu_links.sh: `gpu_links.py SEED DIR` writes the machine `box` and
prints the arguments of gpu_links; `gpu_links.py SEED < OUTPUT` compares the times that it printed with those that are
computed here: each GPU takes one copy after the other, each copy its latency and then an equal part of the link, up to its
own bandwidth."""
import os
import random
import re
import sys


def draw(seed):
    rng = random.Random(seed)
    n = rng.randrange(1, 9)
    speed = [rng.choice((1000, 2000, 4000)) for _ in range(n)]
    latency = [rng.choice((5, 10, 50)) for _ in range(n)]
    link = rng.choice((1000, 1500, 3000, 4000, 32000))
    copies = [(rng.randrange(n), rng.randrange(10 ** 5, 10 ** 7)) for _ in range(rng.randrange(1, 25))]
    return n, speed, latency, link, copies


def write(place, n, speed, latency, link):
    os.makedirs(os.path.join(place, "bus"), exist_ok=True)
    base = os.path.join(place, "bus", "box.")
    matrix = lambda of, other: "\n".join(
        " ".join(str(0 if i == j else of[max(i, j) - 1] if not i or not j else other) for j in range(n + 1))
        for i in range(n + 1)) + "\n"
    files = {
        "config": "16 # Number of CPUs\n%d # Number of CUDA devices\n0 # Number of OpenCL devices\n" % n,
        "bandwidth": matrix(speed, 2000), "latency": matrix(latency, 20),
        "memory": "".join("cuda%d 4096 MiB\n" % i for i in range(n))
                  + "alloc 0 us\npin 0 us\nlink_in %d MB/s\nlink_out %d MB/s\n" % (link, link)}
    for name, text in files.items():
        with open(base + name, "w", encoding="utf-8") as f:
            f.write(text)


def rates(active, speed, link):
    """Equal parts of the link; those that want less leave the rest to others."""
    left, wanting, got = link, dict(active), {}
    while wanting:
        part = left / len(wanting)
        modest = [i for i, gpu in wanting.items() if speed[gpu] <= part]
        for i in modest or list(wanting):
            got[i] = min(speed[wanting.pop(i)], part)
            left -= got[i]
    return got


def ends(n, speed, latency, link, copies):
    queue = [[i for i, (gpu, _) in enumerate(copies) if gpu == g] for g in range(n)]
    now, end, left = 0, {}, [size for _, size in copies]
    data = [latency[g] for g in range(n)]  # when the first of the queue has had its latency
    while any(queue):
        active = {queue[g][0]: g for g in range(n) if queue[g] and data[g] <= now}
        rate = rates(active, speed, link)
        dates = [now + left[i] / rate[i] for i in active] + [data[g] for g in range(n) if queue[g] and data[g] > now]
        following = min(dates)
        for i, g in active.items():
            left[i] -= rate[i] * (following - now)
            if left[i] < 1e-3:
                end[i] = following
                queue[g].pop(0)
                data[g] = following + latency[g]
        now = following
    return [end[i] for i in range(len(copies))]


def main():
    case = draw(int(sys.argv[1]))
    if len(sys.argv) > 2:
        write(sys.argv[2], *case[:4])
        print(" ".join("%d %d" % copy for copy in case[4]))
        return 0
    got = dict(re.findall(r"^copy (\d+) ([0-9.]+)$", sys.stdin.read(), re.M))
    bad = 0
    for i, date in enumerate(ends(*case)):
        if abs(float(got[str(i)]) - date) > .01 + 1e-6 * date:
            print("seed %s, copy %d (%d bytes to GPU %d): %s us, not %.3f" % (sys.argv[1], i, case[4][i][1], case[4][i][0], got[str(i)], date))
            bad += 1
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
