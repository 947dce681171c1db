"""Where everything of a chart goes: a list of shapes that png.py and svg.py draw alike.

Shapes, in pixels from the top left corner of WIDTH x HEIGHT:
  ("rect", x, y, width, height, colour)
  ("line", [(x, y), ...], thickness, colour)
  ("text", x, y, text, anchor, scale, colour)     anchor: start, middle or end; y: top of the letters
"""
import math

WIDTH, HEIGHT = 960, 480
LEFT, RIGHT, TOP, BOTTOM = 90, 30, 60, 60
BACKGROUND, INK, FAINT, ACCENT = "#ffffff", "#33373d", "#dfe3e8", "#2f6fdb"
LABELS_MAX = 16


def build_shapes(points, title, kind):
    values = [value for _, value in points]
    low, high, step = round_range(min(0, *values), max(0, *values))
    plot_width, plot_height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    slot = plot_width / len(points)

    def to_x(index):
        return LEFT + (index + 0.5) * slot

    def to_y(value):
        return TOP + (high - value) / (high - low) * plot_height

    shapes = [("rect", 0, 0, WIDTH, HEIGHT, BACKGROUND), ("text", LEFT, 20, title, "start", 3, INK)]
    for i in range(round((high - low) / step) + 1):
        tick = low + i * step
        shapes.append(("rect", LEFT, to_y(tick), plot_width, 1, FAINT))
        shapes.append(("text", LEFT - 10, to_y(tick) - 7, format_number(tick, step), "end", 2, INK))
    if kind == "bar":
        for i, value in enumerate(values):
            top, bottom = sorted((to_y(value), to_y(0)))
            shapes.append(("rect", to_x(i) - slot * 0.35, top, slot * 0.7, max(1, bottom - top), ACCENT))
    else:
        shapes.append(("line", [(to_x(i), to_y(value)) for i, value in enumerate(values)], 4, ACCENT))
    shapes.append(("rect", LEFT, to_y(0), plot_width, 2, INK))
    every = math.ceil(len(points) / LABELS_MAX)
    room = max(1, int(slot * every // 12))                      # letters of scale 2 are 12 pixels wide
    for i in range(0, len(points), every):
        shapes.append(("text", to_x(i), HEIGHT - BOTTOM + 16, points[i][0][:room], "middle", 2, INK))
    return shapes


def round_range(low, high):
    """(low, high, step) around both, with a step of 1, 2 or 5 times a power of ten."""
    if low == high:
        return 0, 1, 0.5
    rough = (high - low) / 5
    magnitude = 10.0 ** math.floor(math.log10(rough))
    step = next(m * magnitude for m in (1, 2, 5, 10) if m * magnitude >= rough)
    return math.floor(low / step) * step, math.ceil(high / step) * step, step


def format_number(value, step):
    for size, suffix in ((1e9, "B"), (1e6, "M"), (1e3, "K")):
        if step >= size:
            return f"{value / size:g}{suffix}" if value else "0"
    return f"{value:.{max(0, -math.floor(math.log10(step)))}f}"
