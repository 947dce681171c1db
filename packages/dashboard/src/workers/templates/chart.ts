import type { WorkerTemplate } from './template';

export const chart: WorkerTemplate = {
  id: 'chart',
  category: 'reports',
  name: 'Bar chart',
  about: 'Draws a bar chart you can send or add to a document.',
  tags: ['report'],
  inputs: [
    {
      name: 'points',
      label: 'Numbers',
      type: 'json',
      required: true,
      description: 'An object that maps names to numbers',
      default: { Mon: 12, Tue: 19, Wed: 7, Thu: 24, Fri: 16 },
    },
    { name: 'title', label: 'Title', type: 'text', default: 'Weekly orders' },
  ],
  outputs: [
    { name: 'chart', label: 'Chart', type: 'image' },
    { name: 'largest', label: 'Largest', type: 'number' },
  ],
  code: `"""Draws a bar chart as an SVG image."""
import tempfile
from html import escape
from pathlib import Path

WIDTH, HEIGHT, MARGIN = 640, 320, 40


def run(points, title):
    if not points:
        raise ValueError("provide at least one number")
    numbers = {str(name): float(value) for name, value in points.items()}
    if min(numbers.values()) < 0:
        raise ValueError("bars can't show negative numbers")
    largest = max(numbers.values())
    step = (WIDTH - 2 * MARGIN) / len(numbers)
    shapes = []
    for at, (name, value) in enumerate(numbers.items()):
        height = (HEIGHT - 3 * MARGIN) * value / (largest or 1)
        left, top = MARGIN + at * step, HEIGHT - MARGIN - height
        middle = left + step / 2
        shapes.append(f'<rect x="{left + step * 0.15:.1f}" y="{top:.1f}" width="{step * 0.7:.1f}" height="{height:.1f}" fill="#0b5c7a"/>')
        shapes.append(f'<text x="{middle:.1f}" y="{HEIGHT - MARGIN + 20}">{escape(name)}</text>')
        shapes.append(f'<text x="{middle:.1f}" y="{top - 8:.1f}">{value:g}</text>')

    drawing = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="14" text-anchor="middle">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>'
        f'<text x="{WIDTH / 2}" y="28" font-size="18">{escape(title)}</text>{"".join(shapes)}</svg>'
    )
    # If an image output is the path of a file in the temporary folder, the file is kept with the run.
    path = Path(tempfile.gettempdir()) / "chart.svg"
    path.write_text(drawing, "utf-8")
    return {"chart": str(path), "largest": largest}
`,
};
