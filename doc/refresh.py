#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Makes the pictures of the manual that show measurements, and the figures of the README, anew.
#     doc/refresh.py --build BUILD                    all
#     doc/refresh.py --build BUILD --only pictures    or figures, or heatmaps
# How each is made: pictures by `orrery matrix` from a simulated Cholesky, heatmaps by
# benchmarks that print tables, and by `orrery platform` (their sources are in
# doc/pictures, and doc/pictures.py draws them), figures by `make bench` and simulated
# runs. Other pictures have scripts of their own: doc/malleable.py,
# doc/checkpoint_period.py, doc/why_slow.py, doc/pictures.py.
# Figures are of this machine: measure them on one that does nothing else.
# Invariant: whatever was made anew carries the commit that it was made from, and its date.
import argparse
import datetime
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
README = ROOT / 'README.md'
CHOLESKY = {64: 64, 1024: 128}   # nodes: tiles in each direction
RUNS = 3
# Pictures: file, nodes, options of `orrery matrix`.
PICTURES = [('doc/heatmap-64.png', 64, ['--logical']), ('doc/heatmap-64-hops.png', 64, ['--hops'])]


def commit():
    """The commit of the sources, and whether they were changed since."""
    def git(*words):
        return subprocess.run(['git', '-C', str(ROOT)] + list(words), stdout=subprocess.PIPE, check=True, text=True).stdout.strip()
    changed = git('status', '--porcelain', '--untracked-files=no', 'src', 'sim', 'tools', 'examples')
    return git('rev-parse', '--short=7', 'HEAD') + (', changed' if changed else '')


def stamp():
    return 'commit %s, %s' % (commit(), datetime.date.today().isoformat())


class Build:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        self.orrery = self.folder / 'orrery'
        if not self.orrery.exists():
            sys.exit('doc/refresh.py: %s is not there; build first, and name the build tree with --build' % self.orrery)

    def run(self, *words, folder=None):
        done = subprocess.run([str(self.orrery)] + [str(w) for w in words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            sys.exit('doc/refresh.py: orrery %s: status %d\n%s' % (' '.join(map(str, words)), done.returncode, done.stdout[-2000:]))
        return done.stdout

    def cholesky(self, folder, nodes, *options):
        """Runs it in that folder, where its files come."""
        program = pathlib.Path(folder) / 'cholesky.sim'
        if not program.exists():
            program.symlink_to(self.folder / 'examples' / 'cholesky' / 'cholesky.sim')
        return self.run('sim', '-n', nodes, '--kernels', 'skip', *options, program.name, '-nt', CHOLESKY[nodes], '-b', 512, folder=folder)

    def bench(self, *names):
        """What the benchmarks print. A bar that is missed is said, and the figures are those of today all the same."""
        done = subprocess.run(['make', '-s', '-C', str(self.folder), 'bench', 'BENCH=%s' % ' '.join(names)], stdout=subprocess.PIPE, text=True)
        if done.returncode:
            sys.stderr.write('doc/refresh.py: make bench BENCH="%s" ended with status %d\n' % (' '.join(names), done.returncode))
        return done.stdout


def pictures(build, folder):
    for path, nodes, options in PICTURES:
        build.cholesky(folder, nodes, '--quiet', '--stats', 'stats.csv')
        stats = pathlib.Path(folder) / 'stats.csv'
        stats.write_text(stats.read_text().replace(folder + os.sep, ''))   # the picture names no path of this machine
        build.run('matrix', stats, '-o', folder, '--prefix', 'made', '--only', 'volume', '--title', 'Cholesky, %d x %d tiles' % ((CHOLESKY[nodes],) * 2),
                  '--note', 'simulated, default machine and network\n%s' % stamp(), *options)
        made = 'made_%svolume.png' % ('logical_' if '--logical' in options else '')
        (ROOT / path).write_bytes((pathlib.Path(folder) / made).read_bytes())
        print('wrote', path)


# Benchmarks that print tables: how the title of each begins, and its picture.
HEATMAPS = {'broadcast_trees': {'one datum for all other ranks': 'trees.txt', 'Cholesky, 24 x 24 tiles': 'trees_cholesky.txt'},
            'policies': {'Cholesky on one node': 'policies.txt'}}
NETWORKS = ROOT / 'sim' / 'launcher' / 'networks.def'


def with_rows(text, rows):
    """The source of a picture with these rows, of which the first one has the columns."""
    lines = [line for line in text.splitlines() if not line.startswith('row ')]
    place = next(i for i, line in enumerate(lines) if line.startswith('columns '))
    lines[place:place + 1] = ['columns ' + ' '.join(rows[0][1:])] + ['row ' + ' '.join(r) for r in rows[1:]]
    return '\n'.join(lines) + '\n'


def tables(text):
    """{title: rows of words} of the tables that a benchmark prints."""
    found = re.findall(r'^(.*):\n((?:\|.*\n)+)', text, re.M)
    return {title: [[c.strip() for c in line.strip('|').split('|')] for line in table.splitlines() if '---' not in line] for title, table in found}


def write(name, rows):
    path = ROOT / 'doc' / 'pictures' / name
    path.write_text(with_rows(path.read_text(), rows))
    print('wrote', path.relative_to(ROOT))


def message_times(build, folder, *options):
    """{size: µs} of a message between two nodes, as `orrery platform` prints them."""
    printed = build.run('platform', '-n', 2, *options, '-o', 'net.xml', folder=folder)
    sizes = re.search(r'^a message alone of +(.*)$', printed, re.M).group(1)
    times = re.search(r'^ *near nodes +(.*)$', printed, re.M).group(1)
    return dict(zip((s.replace(' ', '') for s in re.split(r' {2,}', sizes)), (float(t.split()[0]) for t in re.split(r' {2,}', times))))


def heatmaps(build, folder):
    for bench, pictures_of in HEATMAPS.items():
        printed = tables(build.bench(bench))
        for title, name in pictures_of.items():
            rows = next((r for t, r in printed.items() if t.startswith(title)), None)
            if rows is None:
                sys.exit('doc/refresh.py: make bench BENCH=%s printed no table "%s"' % (bench, title))
            write(name, rows)
    default = message_times(build, folder)
    names = re.findall(r'^NETWORK\("([^"]+)"', NETWORKS.read_text(), re.M)
    named = [(n, message_times(build, folder, '--like', n)) for n in names]
    write('named.txt', [['network', *default]] + [[n, *('%.2f' % (us[size] / default[size]) for size in default)] for n, us in named])
    subprocess.run([sys.executable, '-B', str(ROOT / 'doc' / 'pictures.py')], check=True)


def number(value):
    """Two digits that count."""
    text = '%.2g' % value
    return '%d' % float(text) if float(text) >= 10 else '%g' % float(text)


def simulated(build, folder, nodes):
    found = []
    for _ in range(RUNS):
        build.cholesky(folder, nodes, '--quiet', '--report', 'report.json')
        found.append(json.loads((pathlib.Path(folder) / 'report.json').read_text()))
    size = statistics.median(r['peak_rss_bytes'] for r in found)
    return '%s s, %s' % (number(statistics.median(r['wall_s'] for r in found)), '%.0f MB' % (size / 1e6) if size < 1e9 else '%.1f GB' % (size / 1e9))


def benches(text):
    """{beginning of a row: its figure}, from what `make bench` prints."""
    task = re.findall(r'^task_overhead (.*): median ([0-9.]+) ns', text, re.M)
    foreign = re.findall(r'^insert_foreign: ([0-9.]+) ns .* of (\d+)$', text, re.M)
    ping = re.search(r'^pingpong 1 .*difference +(-?[0-9.]+) us', text, re.M)
    found = {}
    if len(task) >= 2:
        found['an empty task'] = '%s µs / %s µs' % tuple(number(float(ns) / 1e3) for _, ns in task[:2])
    if len(foreign) >= 2:
        few, many = foreign[0], foreign[-1]
        found['inserting a task'] = '%s ns at %s and %s ns at %s ranks' % (number(float(few[0])), few[1], number(float(many[0])), format(int(many[1]), ','))
    if ping:
        found['1-byte ping-pong'] = '%s µs more than plain MPI' % number(float(ping.group(1)))
    return found


def put(text, row, figure):
    """The README with that figure in the column of Orrery; what stands there in parentheses stays."""
    pattern = re.compile(r'^(\| %s[^|]*\| )([^|(]*?)( \([^|]*)?( \|)' % re.escape(row), re.M)
    if not pattern.search(text):
        sys.exit('doc/refresh.py: the README has no row that begins with "%s"' % row)
    return pattern.sub(lambda m: m.group(1) + figure + (m.group(3) or '') + m.group(4), text, count=1)


def figures(build, folder):
    text = README.read_text()
    for nodes in CHOLESKY:
        text = put(text, 'Cholesky simulated, %s nodes' % format(nodes, ','), simulated(build, folder, nodes))
    for row, figure in benches(build.bench('task_overhead', 'insert_foreign', 'pingpong')).items():
        text = put(text, row, figure)
    line = re.compile(r'^Measured on .*?: commit [^;.]*[;.]', re.M | re.S)
    if not line.search(text):
        sys.exit('doc/refresh.py: the README has no line "Measured on MACHINE: commit ...."')
    text = line.sub(lambda m: m.group(0).partition(': commit')[0] + ': ' + stamp() + m.group(0)[-1], text, count=1)
    README.write_text(text)
    print('wrote README.md; the columns of others, and what stands in parentheses, stay as they were')


def main():
    parser = argparse.ArgumentParser(description='Makes pictures of measurements and figures of the README anew.')
    parser.add_argument('--build', default='build', help='the build tree (default: build)')
    parser.add_argument('--only', choices=['pictures', 'figures', 'heatmaps'])
    options = parser.parse_args()
    build = Build(options.build)
    with tempfile.TemporaryDirectory(prefix='orrery-refresh-') as folder:
        if options.only in (None, 'pictures'):
            pictures(build, folder)
        if options.only in (None, 'heatmaps'):
            heatmaps(build, folder)
        if options.only in (None, 'figures'):
            figures(build, folder)


if __name__ == '__main__':
    main()
