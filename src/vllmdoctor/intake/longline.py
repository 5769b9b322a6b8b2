"""One physical line of any length in, piece by piece; its start and windows around the literals in it out."""

from __future__ import annotations

from vllmdoctor.intake.literals import LiteralFinder

WINDOW_BYTES = 16 << 10
# Of many windows the first and the last are kept, so that one line stays below 768 KiB.
FIRST_WINDOWS, LAST_WINDOWS = 16, 8
MAX_WINDOW_BYTES = 2 * WINDOW_BYTES
CUT = " … ".encode()

_HALF = WINDOW_BYTES // 2
# A gap this small is not worth a mark.
_SMALL_GAP_BYTES = 64


class LongLine:
    """Collects a line that is too long to be kept whole. Memory does not grow with the line.

    `counts` holds how often each literal occurs in it, complete after `finish`.
    """

    def __init__(self, finder: LiteralFinder) -> None:
        self._finder = finder
        self._buffer = b""
        self._base = 0  # offset in the line at which the buffer begins
        self._done = 0  # literals that begin before this offset in the line have been counted
        self._windows: list[tuple[int, bytearray]] = []
        self.size = 0
        self.counts = [0] * len(finder.literals)

    def feed(self, piece: bytes) -> None:
        """Adds the next piece of the line."""
        self.size += len(piece)
        self._buffer += piece
        if not self._windows and self.size >= WINDOW_BYTES:
            self._windows.append((0, bytearray(self._buffer[:WINDOW_BYTES])))
        # A literal near the end waits for the text that follows it.
        self._search(self.size - _HALF - self._finder.longest)
        keep_from = max(self._base, self._done - _HALF)
        self._buffer = self._buffer[keep_from - self._base :]
        self._base = keep_from

    def finish(self) -> bytes:
        """The line, cut where it was too long."""
        self._search(self.size)
        if not self._windows:
            return self._buffer
        parts: list[bytes] = []
        end = 0
        for begin, window in self._runs():
            if begin > end:
                parts.append(CUT)
            parts.append(_whole_characters(window, begin > 0, begin + len(window) < self.size))
            end = begin + len(window)
        if end < self.size:
            parts.append(CUT)
        return b"".join(parts)

    def _runs(self) -> list[tuple[int, bytes]]:
        """The windows, those that touch joined."""
        runs: list[tuple[int, bytes]] = []
        for begin, window in self._windows:
            if runs and runs[-1][0] + len(runs[-1][1]) == begin:
                runs[-1] = (runs[-1][0], runs[-1][1] + window)
            else:
                runs.append((begin, bytes(window)))
        return runs

    def _search(self, until: int) -> None:
        if until <= self._done:
            return
        for begin, matches in self._finder.matches(self._buffer[self._done - self._base :]):
            begin += self._done
            if begin >= until:
                break
            for index, start, _ in matches:
                if begin + start < until:
                    self.counts[index] += 1
                    self._add_window(begin + start)
        self._done = until

    def _add_window(self, place: int) -> None:
        begin, end = max(0, place - _HALF), min(self.size, place + _HALF)
        if self._windows:
            last_begin, last = self._windows[-1]
            last_end = last_begin + len(last)
            if end <= last_end:
                return
            if begin - last_end <= _SMALL_GAP_BYTES and last_end >= self._base:
                begin = last_end
                if end - last_begin <= MAX_WINDOW_BYTES:
                    last += self._buffer[begin - self._base : end - self._base]
                    return
        self._windows.append((begin, bytearray(self._buffer[begin - self._base : end - self._base])))
        if len(self._windows) > FIRST_WINDOWS + LAST_WINDOWS:
            del self._windows[FIRST_WINDOWS]


def _whole_characters(window: bytes, cut_before: bool, cut_after: bool) -> bytes:
    """The window without the halves of characters at its cut ends."""
    begin, end = 0, len(window)
    if cut_before:
        while begin < 3 and begin < end and window[begin] & 0xC0 == 0x80:
            begin += 1
    if cut_after:
        last = end - 1
        while last > begin and end - last < 4 and window[last] & 0xC0 == 0x80:
            last -= 1
        if last >= begin and window[last] >= 0xC0 and end - last < _character_bytes(window[last]):
            end = last
    return window[begin:end]


def _character_bytes(lead: int) -> int:
    return 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


def shortened(line: bytes, finder: LiteralFinder) -> bytes:
    """A line that is at hand as a whole, cut to its start and the windows around the literals in it."""
    long_line = LongLine(finder)
    long_line.feed(line)
    return long_line.finish()
