# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Checksums of the text files that runs and commands write (src/base/checksum.h): a comment near the begin says that one
# follows, and the last line is "# checksum " and the CRC-32 of all that stands before it. Platforms have comments of XML.
# A text that somebody wrote or changed by hand says so by "# checksum none" near its begin.
# Invariant: a text with one of these lines and without the other, or with another checksum, is refused with its place; so
# is one without any of the three where only Orrery writes such texts (require).
import os
import re
import zlib

from orrery_cli import UserError

NEAR = 65536   # bytes of the begin, where the announcement stands
CHUNK = 1 << 20


class Form:
    """How a comment begins and ends."""

    def __init__(self, begin, end):
        self.begin, self.end = begin.encode(), end.encode() + b"\n"
        self.follows = self.begin + b"at the end" + self.end
        self.last = re.compile(re.escape(self.begin) + b"([0-9a-f]{8})" + re.escape(self.end))
        self.none = re.compile(b"^" + re.escape(self.begin + b"none" + end.encode()) + b"$", re.M)
        self.bytes = len(self.begin) + 8 + len(self.end)

    def line(self, sum_):
        return (self.begin + b"%08x" % sum_ + self.end).decode()


TEXT, XML = Form("# checksum ", ""), Form("<!-- checksum ", " -->")


def sealed(text, form=TEXT):
    """The text with both lines; the first line, which says what it is, stays the first one."""
    text += "" if not text or text.endswith("\n") else "\n"
    first, end, rest = text.partition("\n")
    text = first + end + form.follows.decode() + rest
    return text + form.line(zlib.crc32(text.encode()))


class Sealing:
    """A text that is written to a stream in pieces, with both lines."""

    def __init__(self, stream):
        self.stream, self.sum, self.begun = stream, 0, False

    def write(self, text):
        if not self.begun:
            first, end, rest = text.partition("\n")
            text, self.begun = first + end + TEXT.follows.decode() + rest, True
        self.stream.write(text)
        self.sum = zlib.crc32(text.encode("utf-8", "surrogateescape"), self.sum)

    def end(self):
        self.stream.write(TEXT.line(self.sum))


def refuse(path, number, why, form=TEXT):
    begin, end = form.begin.decode(), form.end.decode().strip("\n")
    raise UserError("%s:%d: %s; write it anew, or, if you changed it, put one line `%snone%s' in place of its lines `%s'"
                    % (path, number, why, begin, end, begin.strip()), 1)


def check_stream(path, file, bytes_, cut=None, form=TEXT):
    """Refuses what the binary file has, so many bytes, if it does not fit to its checksum. cut(path, line): what to do with a text
    that lacks its end instead of refusing it, where the writer may have been killed. Whether the text says what checksum it has."""
    begin = file.read(NEAR)
    file.seek(max(0, bytes_ - form.bytes))
    end = form.last.fullmatch(file.read(form.bytes))
    by_hand = form.none.search(begin)
    if not end and form.begin not in form.none.sub(b"", begin, count=1):
        return bool(by_hand)
    left, sum_, lines = bytes_ - (form.bytes if end else 0), 0, 0
    file.seek(0)
    while left > 0:
        data = file.read(min(CHUNK, left))
        if not data:
            break
        sum_, lines, left = zlib.crc32(data, sum_), lines + data.count(b"\n"), left - len(data)
    if not end:
        if cut and begin.count(form.begin) == 1 and form.follows in begin:
            cut(path, lines)
        else:
            refuse(path, lines + 1, "the checksum is missing, which its begin announces: the file was damaged or cut off", form)
    elif int(end[1], 16) != sum_:
        refuse(path, lines + 1, "the checksum is %s, and that of the lines before it %08x: the file was damaged or changed"
               % (end[1].decode(), sum_), form)
    return True


def check(path, cut=None, form=TEXT):
    """The same of a file that is there."""
    with open(path, "rb") as file:
        return check_stream(path, file, os.fstat(file.fileno()).st_size, cut, form)


def require(path, says):
    """Refuses a text that only Orrery writes if it says nothing of its checksum: it has lost both of its lines."""
    if not says:
        raise UserError("%s:1: it has no checksum: the file was damaged or changed; write it anew, or, if you wrote or changed it, "
                        "give it a line `# checksum none' near its begin" % path, 1)
