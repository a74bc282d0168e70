# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Pictures of what messages get of one link over time (doc/pictures.py has the form of
# their sources). Nothing is measured here: the rates follow from the rule of the model.
#
# Invariant: the area of a message is its size.
from picture import Picture
from svg import Svg, wrapped

EDGE, LEFT, WIDTH, HEIGHT = 16, 70, 470, 110  # of a panel's axes
TEXT = 74  # characters of a line beside a panel
FILLS = ('#9fc0ea', '#f2cf7e', '#b9dba7')


def equal(messages, mbps):
    """[(from, to, {id: rate})]: those on the link get equal parts of it. MB, µs, MB/µs."""
    left = {m['id']: float(m['megabytes']) for m in messages}
    begin = {m['id']: float(m['start']) for m in messages}
    now, out, link = 0.0, [], mbps / 1e6
    while any(v > 1e-9 for v in left.values()):
        here = [i for i in left if left[i] > 1e-9 and begin[i] <= now]
        later = [b for i, b in begin.items() if b > now and left[i] > 1e-9]
        ends = [now + left[i] * len(here) / link for i in here]
        then = min(ends + later)
        rates = {i: link / len(here) for i in here}
        for i in here:
            left[i] -= rates[i] * (then - now)
        if here:
            out.append((now, then, rates))
        now = then
    return out


def queue(messages, mbps, channels):
    """The same if each channel serves one message after the other."""
    free, spans = [0.0] * channels, []
    for m in sorted(messages, key=lambda m: m['start']):
        c = free.index(min(free))
        begin = max(free[c], float(m['start']))
        free[c] = begin + m['megabytes'] * channels / (mbps / 1e6)
        spans.append((begin, free[c], m['id']))
    dates = sorted({d for s in spans for d in s[:2]})
    out = []
    for a, b in zip(dates, dates[1:]):
        rates = {i: mbps / 1e6 / channels for begin, end, i in spans if begin <= a and b <= end}
        if rates:
            out.append((a, b, rates))
    return out


class Chart(Picture):
    HEADS = {'link': (('mbps', 'latency'), ()),
             'message': (('id', 'megabytes', 'start'), ()),
             'panel': (('channels', 'text'), ('at',))}  # channels: 0 for equal parts

    def draw(self):
        link, messages = self.items['link'][0], self.items['message']
        mbps, latency = link['mbps'], link['latency']
        panels = [(p, queue(messages, mbps, p['channels']) if p['channels'] else equal(messages, mbps)) for p in self.items['panel']]
        last = max(part[1] for _, parts in panels for part in parts) * 1.04
        step = HEIGHT + 64
        svg = Svg(LEFT + WIDTH + 500, 60 + step * len(panels) + 40, self.title)
        for n, (panel, parts) in enumerate(panels):
            self.draw_panel(svg, 60 + n * step, panel, parts, last, mbps, latency)
        y = 60 + step * len(panels) + 14
        for i, m in enumerate(messages):
            svg.rect(LEFT + 250 * i, y - 10, 14, 12, FILLS[i])
            svg.text(LEFT + 20 + 250 * i, y, f'{m["id"]}: {m["megabytes"]} MB, sent at {m["start"]} µs', size=11)
        svg.text(LEFT + 250 * len(messages), y, f'a link of {mbps / 1000:g} GB/s with {latency} µs; drawn from the rule of each model', size=11)
        return svg.done()

    def draw_panel(self, svg, top, panel, parts, last, mbps, latency):
        def x(us):
            return LEFT + WIDTH * us / last

        base, ids, ends = top + HEIGHT, [m['id'] for m in self.items['message']], {}
        for a, b, rates in parts:
            at = base
            for i in ids:
                if i in rates:
                    h = HEIGHT * rates[i] * 1e6 / mbps
                    svg.box(x(a), at - h, x(b) - x(a), h, FILLS[ids.index(i)])
                    at -= h
                    ends[i] = b
        svg.line([(LEFT, top - 8), (LEFT, base), (LEFT + WIDTH, base)], tip=False)
        svg.text(LEFT - 6, top + 5, f'{mbps / 1000:g} GB/s', size=10, anchor='end')
        svg.text(LEFT - 6, base, '0', size=10, anchor='end')
        before = 0
        for i, end in sorted(ends.items(), key=lambda e: e[1]):
            down = 13 if before and x(end) - before < 110 else 0  # beside the last text there is no room
            svg.line([(x(end), base), (x(end), base + 5 + down)], tip=False)
            svg.text(x(end), base + 17 + down, f'{i} is there: {end + latency:.0f} µs', size=10, anchor='middle')
            before = x(end)
        lines = [(t, False) for t in wrapped(panel['text'], TEXT)] + self.place_lines(panel['at'], TEXT)
        for i, (text, mono) in enumerate(lines):
            svg.text(LEFT + WIDTH + 20, top + 10 + 15 * i, text, size=10 if mono else 12, mono=mono, fill='#245' if mono else '#222')
