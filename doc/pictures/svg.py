# SPDX-License-Identifier: LGPL-2.1-or-later
#
# How all pictures of doc/pictures.py look: colours, fonts, lines.
#
# Invariant: the same calls give the same text.
import html
import textwrap

COLORS = {'': '#e3edf9', 'wait': '#fdf0cf', 'end': '#e6e6e6'}


def wrapped(text, width):
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


class Svg:
    def __init__(self, width, height, title):
        self.later = []  # texts that stand above all lines
        self.lines = ['<!-- SPDX-License-Identifier: LGPL-2.1-or-later; made by doc/pictures.py, do not edit. -->',
                      f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                      f'viewBox="0 0 {width} {height}" font-family="Helvetica, Arial, sans-serif" font-size="12">',
                      f'<title>{html.escape(title)}</title>',
                      '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
                      'orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" fill="#445"/></marker></defs>',
                      f'<rect width="{width}" height="{height}" fill="#fff"/>']
        self.text(16, 26, title, size=17, weight='bold')

    def text(self, x, y, s, size=12, weight=None, anchor=None, mono=False, fill='#223', halo=False):
        more = ''.join(f' {k}="{v}"' for k, v in (
            ('font-size', size if size != 12 else None), ('font-weight', weight), ('text-anchor', anchor),
            ('font-family', 'monospace' if mono else None), ('paint-order', 'stroke' if halo else None),
            ('stroke', '#fff' if halo else None), ('stroke-width', 3 if halo else None)) if v)
        self.lines.append(f'<text x="{x:g}" y="{y:g}" fill="{fill}"{more}>{html.escape(s)}</text>')

    def rect(self, x, y, w, h, fill, stroke='#445', dash=False):
        self.lines.append(f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="6" fill="{fill}" stroke="{stroke}"'
                          + (' stroke-dasharray="5 4"' if dash else '') + '/>')

    def box(self, x, y, w, h, fill):
        """An area without an edge."""
        self.lines.append(f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" fill="{fill}"/>')

    def line(self, points, dash=False, color='#445', tip=True):
        path = 'M' + 'L'.join(f'{x:g} {y:g}' for x, y in points)
        self.lines.append(f'<path d="{path}" fill="none" stroke="{color}"'
                          + (' stroke-dasharray="5 4"' if dash else '') + (' marker-end="url(#tip)"' if tip else '') + '/>')

    def done(self):
        for write in self.later:
            write()
        return '\n'.join(self.lines + ['</svg>', ''])
