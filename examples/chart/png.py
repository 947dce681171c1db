"""Shapes of layout.py as a PNG image: rows of RGB bytes, packed by zlib (PNG, ISO/IEC 15948)."""
import math
import struct
import zlib

from font import GLYPH_WIDTH, glyph
from layout import HEIGHT, WIDTH


def draw(shapes):
    canvas = Canvas(WIDTH, HEIGHT)
    for kind, *shape in shapes:
        getattr(canvas, kind)(*shape)
    return canvas.encode()


class Canvas:
    def __init__(self, width, height):
        self.width, self.height = width, height
        self.rows = [bytearray(b"\xff" * (3 * width)) for _ in range(height)]

    def rect(self, x, y, width, height, colour):
        left, right = self._clip(x, self.width), self._clip(x + width, self.width)
        for row in self.rows[self._clip(y, self.height):self._clip(y + height, self.height)]:
            row[3 * left:3 * right] = _rgb(colour) * (right - left)

    def line(self, points, thickness, colour):
        radius = thickness / 2
        if len(points) == 1:
            self._segment(points[0], points[0], radius * 2, colour)
        for start, end in zip(points, points[1:]):
            self._segment(start, end, radius, colour)

    def text(self, x, y, text, anchor, scale, colour):
        advance = (GLYPH_WIDTH + 1) * scale
        x -= {"start": 0, "middle": 0.5, "end": 1}[anchor] * (len(text) * advance - scale)
        for position, character in enumerate(text):
            for row, bits in enumerate(glyph(character)):
                for column in range(GLYPH_WIDTH):
                    if bits >> (GLYPH_WIDTH - 1 - column) & 1:
                        self.rect(round(x) + position * advance + column * scale, round(y) + row * scale, scale, scale, colour)

    def encode(self):
        header = struct.pack(">IIBBBBB", self.width, self.height, 8, 2, 0, 0, 0)    # 8 bits each of red, green, blue
        pixels = zlib.compress(b"".join(b"\0" + row for row in self.rows), 9)       # 0: this row is not filtered
        return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", pixels) + _chunk(b"IEND", b"")

    def _segment(self, start, end, radius, colour):
        """Every pixel takes as much of the colour as the segment covers it: smooth at any slope."""
        (x1, y1), (x2, y2) = start, end
        reach = radius + 1
        dx, dy = x2 - x1, y2 - y1
        length_squared = dx * dx + dy * dy
        target = _rgb(colour)
        for y in range(self._clip(min(y1, y2) - reach, self.height), self._clip(max(y1, y2) + reach + 1, self.height)):
            row = self.rows[y]
            for x in range(self._clip(min(x1, x2) - reach, self.width), self._clip(max(x1, x2) + reach + 1, self.width)):
                along = 0 if not length_squared else min(1, max(0, ((x - x1) * dx + (y - y1) * dy) / length_squared))
                cover = radius + 0.5 - math.hypot(x - x1 - along * dx, y - y1 - along * dy)
                if cover > 0:
                    cover = min(1, cover)
                    for i in range(3):
                        row[3 * x + i] = round(row[3 * x + i] * (1 - cover) + target[i] * cover)

    @staticmethod
    def _clip(value, limit):
        return min(limit, max(0, round(value)))


def _rgb(colour):
    return bytes.fromhex(colour[1:])


def _chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
