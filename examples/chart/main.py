"""Draws numbers as a chart, with the standard library alone."""
import csv
import io
import math
import statistics
import tempfile
from pathlib import Path

import png
import svg
from layout import build_shapes

POINTS_MAX = 200


def run(points, title="Orders per month", kind="bar", format="png", context=None):
    labelled = read_points(points)
    numbers = [value for _, value in labelled]
    context.progress(0.2, "laying out")
    shapes = build_shapes(labelled, title, kind)
    context.progress(0.5, "drawing")
    image = png.draw(shapes) if format == "png" else svg.draw(shapes)

    # A declared image output that names a file under the temporary directory is kept as an artifact.
    path = Path(tempfile.gettempdir()) / f"chart.{format}"
    path.write_bytes(image)
    # Any other file is kept by handing it over.
    context.artifact("points.csv", to_csv(labelled), "text/csv")
    context.log("chart is drawn", points=len(labelled), bytes=len(image))
    return {"chart": str(path), "largest": max(numbers), "average": round(statistics.fmean(numbers), 2)}


def read_points(points):
    """[(label, number)] of an object, or of a list, whose labels are then 1, 2, ..."""
    if isinstance(points, dict):
        labelled = list(points.items())
    elif isinstance(points, list):
        labelled = [(str(i), value) for i, value in enumerate(points, 1)]
    else:
        raise ValueError("points must be an object of labels and numbers, or a list of numbers")
    if not 1 <= len(labelled) <= POINTS_MAX:
        raise ValueError(f"give 1 to {POINTS_MAX} points; these are {len(labelled)}")
    for label, value in labelled:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise ValueError(f"the value of {label!r} is {value!r}, which is not a number")
    return labelled


def to_csv(labelled):
    text = io.StringIO()
    csv.writer(text).writerows([("label", "value"), *labelled])
    return text.getvalue().encode()
