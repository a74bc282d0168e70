# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random messages over links whose bandwidths change, for profiles.sh: `profiles.py share|queue SEED FILE.xml` writes the
platform with its profiles and prints the arguments of network.sim; `profiles.py share|queue SEED MOST < OUTPUT` compares
the times that it printed with those that are computed here: equal shares (max-min) at each moment, or a link that serves
one message after the other."""
import random
import re
import sys

from sharing import CORES, HEADER, HOSTS, shares

START = 1.0  # seconds, when all messages start


def draw(model, seed):
    """Links (bytes per second, seconds, others share it), routes, messages, and for each link that changes its
    bandwidths (date, bytes per second)."""
    rng = random.Random(seed)
    one = model == "queue"
    links, changes = {}, {}
    for i in range(HOSTS):
        for way in ("up", "down"):
            links["%s%d" % (way, i)] = (50e9 if one else rng.choice((1e9, 2e9)), 1e-6, True)
    for i in range(CORES):
        name = "core%d" % i
        links[name] = (rng.choice((1e9, 2e9, 3e9)), rng.choice((1e-6, 500e-6)), one or rng.random() < .7)
        date = START
        changes[name] = []
        for _ in range(rng.randrange(1, 8)):
            date += rng.uniform(.0002, .009)
            changes[name].append((round(date, 7), rng.choice((.25e9, .5e9, 1e9, 2e9, 4e9))))
    routes = {(i, j): ["up%d" % i, "core%d" % (0 if one else rng.randrange(CORES)), "down%d" % j]
              for i in range(HOSTS) for j in range(HOSTS)}
    if one:
        flows = [(2 * i, 2 * i + 1, rng.randrange(1024, 12288)) for i in range(HOSTS // 2)]
    else:
        flows = [(*rng.sample(range(HOSTS), 2), rng.randrange(1024, 12288)) for _ in range(6)]
    return links, routes, flows, changes


def write(name, links, routes, changes):
    with open(name, "w", encoding="utf-8") as f:
        f.write("""<?xml version='1.0'?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="z" routing="Full">\n""")
        for i in range(HOSTS):
            f.write('<host id="h%d" speed="1Gf"/>\n' % i)
        for link, (bandwidth, latency, shared) in links.items():
            f.write('<link id="%s" bandwidth="%.0fBps" latency="%.9fs" sharing_policy="%s"%s/>\n'
                    % (link, bandwidth, latency, "SHARED" if shared else "FATPIPE",
                       ' bandwidth_file="%s.bw"' % link if link in changes else ""))
        for (i, j), route in routes.items():
            f.write('<route src="h%d" dst="h%d" symmetrical="NO">%s</route>\n'
                    % (i, j, "".join('<link_ctn id="%s"/>' % link for link in route)))
        f.write("</zone></platform>\n")
    for link, dates in changes.items():
        with open(link + ".bw", "w", encoding="utf-8") as f:
            f.writelines("%.7f %.0f\n" % change for change in dates)


def at(links, changes, now):
    """The bandwidths of that time, and the date of the next change."""
    present = {link: of[0] for link, of in links.items()}
    following = float("inf")
    for link, dates in changes.items():
        for date, bandwidth in dates:
            if date <= now:
                present[link] = bandwidth
            else:
                following = min(following, date)
    return present, following


def rates_of(links, present, active):
    """Max-min on links that are shared; each message has all of the others."""
    own = {link: (bandwidth, 0) for link, bandwidth in present.items() if links[link][2]}
    routes = {}
    for flow, route in active.items():
        routes[flow] = [link for link in route if links[link][2]] + ["own%d" % flow]
        own["own%d" % flow] = (min([present[link] for link in route if not links[link][2]], default=1e99), 0)
    return shares(own, routes)


def ends(links, routes, flows, changes):
    """As sharing.py's, with changes of bandwidths. Microseconds after the start."""
    start = [START + 2 * sum(links[link][1] for link in routes[s, d]) for s, d, _ in flows]
    left = [1024 * kib + HEADER for _, _, kib in flows]
    end, now = [None] * len(flows), START
    while None in end:
        active = {i: routes[flows[i][:2]] for i in range(len(flows)) if start[i] <= now and end[i] is None}
        present, change = at(links, changes, now)
        rates = rates_of(links, present, active)
        dates = [s for s in start if s > now] + [now + left[i] / rates[i] for i in active]
        following = min(dates + [change])
        for i in active:
            left[i] -= rates[i] * (following - now)
            if left[i] < 1e-3:
                end[i] = following
        now = following
    return [1e6 * (date - START) for date in end]


def served(links, routes, flows, changes, order):
    """When one link has served all of them in that order."""
    now, end = START + 2 * sum(links[link][1] for link in routes[flows[0][:2]]), {}
    for i in order:
        left = 1024 * flows[i][2] + HEADER
        while left > 1e-3:
            present, change = at(links, changes, now)
            step = min(change - now, left / present["core0"])
            left -= step * present["core0"]
            now += step
        end[i] = 1e6 * (now - START)
    return [end[i] for i in range(len(flows))]


def main():
    model, seed, last = sys.argv[1:]
    links, routes, flows, changes = draw(model, int(seed))
    if last.endswith(".xml"):
        write(last, links, routes, changes)
        print(" ".join("%d %d %d" % flow for flow in flows))
        return 0
    got = {int(i): float(us) for i, us in re.findall(r"^message (\d+) ([0-9.]+) us$", sys.stdin.read(), re.M)}
    if model == "queue":
        want = served(links, routes, flows, changes, sorted(got, key=got.get))
    else:
        want = ends(links, routes, flows, changes)
    worst = 0
    for i, date in enumerate(want):
        off = abs(got[i] / date - 1)
        worst = max(worst, off)
        if off > float(last):
            print("seed %s, message %d (%d to %d, %d KiB): %s us, not %.1f" % (seed, i, *flows[i], got[i], date))
    print("worst %.2f %%" % (100 * worst))
    return worst > float(last)


if __name__ == "__main__":
    sys.exit(main())
