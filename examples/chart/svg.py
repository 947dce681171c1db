"""Shapes of layout.py as an SVG document."""
from xml.sax.saxutils import escape, quoteattr

from layout import HEIGHT, WIDTH

PIXELS_PER_SCALE = 8


def draw(shapes):
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">']
    lines += [DRAW[shape[0]](*shape[1:]) for shape in shapes]
    return "\n".join([*lines, "</svg>", ""]).encode()


def _rect(x, y, width, height, colour):
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill={quoteattr(colour)}/>'


def _line(points, thickness, colour):
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return (f'<polyline points="{path}" fill="none" stroke={quoteattr(colour)} stroke-width="{thickness}" '
            'stroke-linejoin="round" stroke-linecap="round"/>')


def _text(x, y, text, anchor, scale, colour):
    size = scale * PIXELS_PER_SCALE
    return (f'<text x="{x:.1f}" y="{y + size * 0.85:.1f}" text-anchor="{anchor}" font-family="sans-serif" '
            f'font-size="{size}" fill={quoteattr(colour)}>{escape(text)}</text>')


DRAW = {"rect": _rect, "line": _line, "text": _text}
