"""Whether a JPEG file holds all of its picture: libjpeg paints what is missing and says nothing.

Only what is missing counts. Extraneous bytes and odd markers are harmless, and named as such.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from benchc.errors import BadInput

_MARKER = re.compile(rb"\xff+([\x01-\xfe])")
_ALONE = frozenset((0x01, *range(0xD0, 0xD8)))
_END, _START_OF_SCAN, _RESTART_INTERVAL = 0xD9, 0xDA, 0xDD
_FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
_PROGRESSIVE = frozenset((0xC2, 0xC6, 0xCA, 0xCE))
_ARITHMETIC = frozenset(range(0xC9, 0xD0))
_PROBE = bytes((value * 151 + 254) % 255 for value in range(64))
"""Put at the end of coded data: a decoder that still wants some shows another picture."""


@dataclass
class _Component:
    across: int
    down: int
    #: Lowest bit sent of each coefficient that was begun.
    sent: dict[int, int] = field(default_factory=dict)


@dataclass
class Jpeg:
    """What the markers of a file say.

    Attributes:
        ends: Where each stretch of coded data ends.
        odd: What is odd about the file and harms nothing.
    """

    data: bytes
    ends: list[int] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    width: int = 0
    height: int = 0
    _frame: int = 0
    _interval: int = 0
    _components: dict[int, _Component] = field(default_factory=dict)

    @property
    def probed(self) -> bytes | None:
        """The file with more data behind all that it has; None where that would change it.

        Where nothing is missing it shows the same picture. Arithmetic coding leaves out zeros at
        the end, so that nothing can be told.
        """
        if self._frame in _ARITHMETIC or not self.ends:
            return None
        parts, start = [], 0
        for end in self.ends:
            parts += [self.data[start:end], _PROBE]
            start = end
        return b"".join([*parts, self.data[start:]])


def read_markers(data: bytes) -> Jpeg:
    """Return what the markers of a JPEG file say, up to its end.

    Raises:
        BadInput: restart intervals, scans or bits of coefficients are missing, or the file is too
            short for as many pixels as it claims to have.
    """
    jpeg = Jpeg(data)
    for kind, at, body, junk in _segments(data):
        if junk and "extraneous bytes between its markers" not in jpeg.odd:
            jpeg.odd.append("extraneous bytes between its markers")
        if kind in _FRAMES and len(body) >= 6:
            _read_frame(jpeg, kind, body)
        elif kind == _RESTART_INTERVAL and len(body) >= 2:
            jpeg._interval = int.from_bytes(body[:2])
        elif kind == _START_OF_SCAN:
            _read_scan(jpeg, at, body)
    _refuse_missing_scans(jpeg)
    return jpeg


def _segments(data: bytes) -> Iterator[tuple[int, int, bytes, bool]]:
    """Yield each marker, where what follows it begins, its body, and whether junk came before."""
    at = 2
    while found := _MARKER.search(data, at):
        kind, begin = found[1][0], found.end()
        # Behind a scan's header its data follow, which `_read_scan` looks at.
        junk = found.start() > at
        if kind == _END:
            yield kind, begin, b"", junk
            return
        if kind in _ALONE:
            at = begin
            continue
        size = int.from_bytes(data[begin : begin + 2])
        body = data[begin + 2 : begin + size]
        at = begin + max(size, 2)
        if kind == _START_OF_SCAN:
            yield kind, at, body, junk
            at = _end_of_data(data, at)
        else:
            yield kind, at, body, junk


def _end_of_data(data: bytes, at: int) -> int:
    for found in _MARKER.finditer(data, at):
        if not 0xD0 <= found[1][0] <= 0xD7:
            return found.start()
    return len(data)


def _read_frame(jpeg: Jpeg, kind: int, body: bytes) -> None:
    jpeg._frame = kind
    jpeg.height, jpeg.width = int.from_bytes(body[1:3]), int.from_bytes(body[3:5])
    jpeg._components = {
        body[i]: _Component(max(1, body[i + 1] >> 4), max(1, body[i + 1] & 15))
        for i in range(6, min(len(body) - 2, 6 + 3 * body[5]), 3)
    }
    # A block takes a bit at least, and two where one scan holds the whole of it.
    bits = 1 if kind in _PROGRESSIVE else 2
    blocks = sum(_blocks(jpeg, [key]) for key in jpeg._components)
    if kind not in _ARITHMETIC and blocks * bits > 8 * len(jpeg.data):
        raise BadInput(
            f"the picture claims {jpeg.width}x{jpeg.height} pixels, more than its "
            f"{len(jpeg.data)} bytes can hold"
        )


def _blocks(jpeg: Jpeg, keys: list[int]) -> int:
    """Return how many units a scan of some components codes: blocks of one, groups of several."""
    widest = max((c.across for c in jpeg._components.values()), default=1)
    tallest = max((c.down for c in jpeg._components.values()), default=1)
    if len(keys) == 1:
        part = jpeg._components[keys[0]]
        across, down = (
            -(-jpeg.width * part.across // widest),
            -(-jpeg.height * part.down // tallest),
        )
        return -(-across // 8) * -(-down // 8)
    return -(-jpeg.width // (8 * widest)) * -(-jpeg.height // (8 * tallest))


def _read_scan(jpeg: Jpeg, at: int, body: bytes) -> None:
    count = body[0] if body else 0
    keys = [body[1 + 2 * i] for i in range(count) if 1 + 2 * i < len(body)]
    keys = [key for key in keys if key in jpeg._components]
    if not keys or len(body) < 4 + 2 * count:
        return
    first, last, bits = body[1 + 2 * count : 4 + 2 * count]
    progressive = jpeg._frame in _PROGRESSIVE
    for key in keys:
        sent = jpeg._components[key].sent
        for number in range(first, min(last, 63) + 1) if progressive else range(64):
            if progressive and bits >> 4 and sent.get(number) != bits >> 4:
                raise BadInput("the picture has a hole (scans are missing)")
            sent[number] = bits & 15 if progressive else 0
    restarts = []
    for found in _MARKER.finditer(jpeg.data, at):
        jpeg.ends.append(found.start())
        if not 0xD0 <= found[1][0] <= 0xD7:
            break
        restarts.append(found[1][0] - 0xD0)
    wanted = -(-_blocks(jpeg, keys) // jpeg._interval) - 1 if jpeg._interval else 0
    if restarts[:wanted] != [number % 8 for number in range(wanted)]:
        raise BadInput("the picture has a hole (restart markers are missing)")


def _refuse_missing_scans(jpeg: Jpeg) -> None:
    """Refuse a component that lacks coefficients, or the last bits of some."""
    for part in jpeg._components.values():
        if jpeg.ends and (len(part.sent) < 64 or any(part.sent.values())):
            raise BadInput("the picture is cut short (scans are missing)")
