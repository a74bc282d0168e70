# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random messages on a random platform, for sharing.sh: `sharing.py SEED FILE.xml` writes the
platform and prints the arguments of network.sim; `sharing.py SEED MOST < OUTPUT` compares the times
that it printed with those of equal shares (max-min), which are computed here."""
import random
import re
import sys

HOSTS, CORES, FLOWS = 8, 3, 8
HEADER = 16


def draw(seed):
    """The links (bytes per second, seconds), the route of each pair and the messages."""
    rng = random.Random(seed)
    links, routes = {}, {}
    for i in range(HOSTS):
        for way in ("up", "down"):
            links["%s%d" % (way, i)] = (rng.choice((0.5e9, 1e9, 2e9)), rng.choice((1e-6, 10e-6, 200e-6)))
    for i in range(CORES):
        links["core%d" % i] = (rng.choice((1e9, 2e9, 3e9)), rng.choice((0, 1e-6, 500e-6)))
    for i in range(HOSTS):
        for j in range(HOSTS):
            routes[i, j] = ["up%d" % i, "core%d" % rng.randrange(CORES), "down%d" % j]
    flows = [(*rng.sample(range(HOSTS), 2), rng.randrange(1024, 16384)) for _ in range(FLOWS)]
    return links, routes, flows


def write(name, links, routes):
    with open(name, "w", encoding="utf-8") as f:
        f.write("""<?xml version='1.0'?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="z" routing="Full">\n""")
        for i in range(HOSTS):
            f.write('<host id="h%d" speed="1Gf"/>\n' % i)
        for link, (bandwidth, latency) in links.items():
            f.write('<link id="%s" bandwidth="%.0fBps" latency="%.9fs"/>\n' % (link, bandwidth, latency))
        for (i, j), route in routes.items():
            f.write('<route src="h%d" dst="h%d" symmetrical="NO">%s</route>\n'
                    % (i, j, "".join('<link_ctn id="%s"/>' % link for link in route)))
        f.write("</zone></platform>\n")


def shares(links, active):
    """The rate of each message under way: the link with the least share is settled first."""
    left = {link: bandwidth for link, (bandwidth, _) in links.items()}
    missing, rates = dict(active), {}
    while missing:
        users = {}
        for route in missing.values():
            for link in route:
                users[link] = users.get(link, 0) + 1
        tightest = min(users, key=lambda link: left[link] / users[link])
        rate = left[tightest] / users[tightest]
        for flow in [flow for flow, route in missing.items() if tightest in route]:
            rates[flow] = rate
            for link in missing.pop(flow):
                left[link] -= rate
    return rates


def ends(links, routes, flows):
    """When each message is there: its envelope takes the latency, then it does, then its bytes have their shares."""
    start = [2 * sum(links[link][1] for link in routes[s, d]) for s, d, _ in flows]
    left = [1024 * kib + HEADER for _, _, kib in flows]
    end, now = [None] * len(flows), 0
    while None in end:
        active = {i: routes[flows[i][:2]] for i in range(len(flows)) if start[i] <= now and end[i] is None}
        rates = shares(links, active)
        dates = [s for s in start if s > now] + [now + left[i] / rates[i] for i in active]
        following = min(dates)
        for i in active:
            left[i] -= rates[i] * (following - now)
            if left[i] < 1e-3:
                end[i] = following
        now = following
    return [1e6 * date for date in end]


def main():
    links, routes, flows = draw(int(sys.argv[1]))
    if sys.argv[2].endswith(".xml"):
        write(sys.argv[2], links, routes)
        print(" ".join("%d %d %d" % flow for flow in flows))
        return 0
    got = dict(re.findall(r"^message (\d+) ([0-9.]+) us$", sys.stdin.read(), re.M))
    want = ends(links, routes, flows)
    worst = 0
    for i, date in enumerate(want):
        off = abs(float(got[str(i)]) / date - 1)
        worst = max(worst, off)
        if off > float(sys.argv[2]):
            print("seed %s, message %d (%d to %d, %d KiB): %s us, not %.1f" % (sys.argv[1], i, *flows[i], got[str(i)], date))
    print("worst %.2f %%" % (100 * worst))
    return worst > float(sys.argv[2])


if __name__ == "__main__":
    sys.exit(main())
