"""Groups the rows of a CSV file by one column and adds up another."""
import csv
import io
import statistics
from pathlib import Path

SAMPLE = Path(__file__).with_name("sales.csv")
WARNINGS_SHOWN = 5


def run(file=None, text="", group_by="region", value="amount", context=None):
    source = read_source(file, text)
    context.progress(0.1, "reading")
    amounts, skipped = collect_amounts(source, group_by, value, context)
    if not amounts:
        raise ValueError(f"no row has a number in the column {value!r}")

    context.progress(0.8, "adding up")
    groups = sorted((summarize(name, numbers) for name, numbers in amounts.items()), key=lambda g: -g["total"])
    total = round(sum(group["total"] for group in groups), 2)
    rows_read = sum(group["rows"] for group in groups) + skipped
    for group in groups:
        group["share"] = round(group["total"] / total, 4) if total else None
    context.log("report is ready", groups=len(groups), rows=rows_read, total=total)
    context.progress(1.0, "done")
    return {
        "summary": describe(groups, group_by, value, total, skipped),
        "groups": groups,
        "total": total,
        "rows_read": rows_read,
        "rows_skipped": skipped,
    }


def read_source(file, text):
    """The CSV text: of the uploaded file, else as pasted, else the sample."""
    if file:
        return Path(file).read_text("utf-8-sig")
    return text if text.strip() else SAMPLE.read_text("utf-8")


def collect_amounts(source, group_by, value, context):
    """Numbers of the column `value` by group, and how many rows had none."""
    rows = csv.DictReader(io.StringIO(source), dialect=detect_dialect(source))
    for column in (group_by, value):
        if column not in (rows.fieldnames or []):
            raise ValueError(f"there is no column {column!r}; the first line names {', '.join(rows.fieldnames or ['none'])}")
    amounts, skipped = {}, 0
    for row in rows:
        number = to_number(row[value])
        if number is None:
            skipped += 1
            if skipped <= WARNINGS_SHOWN:
                context.log(f"line {rows.line_num}: {row[value]!r} is not a number, skipped", "warning", line=rows.line_num)
            continue
        amounts.setdefault((row[group_by] or "").strip() or "(none)", []).append(number)
    if skipped > WARNINGS_SHOWN:
        context.log(f"{skipped - WARNINGS_SHOWN} more rows skipped", "warning")
    return amounts, skipped


def detect_dialect(source):
    """Comma, semicolon or tab: whichever the first line has most of."""
    first = source.lstrip().split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    return type("Found", (csv.excel,), {"delimiter": delimiter})


def to_number(text):
    try:
        number = float((text or "").strip().replace(" ", ""))
    except ValueError:
        return None
    return number if abs(number) < float("inf") else None


def summarize(name, numbers):
    return {
        "group": name,
        "rows": len(numbers),
        "total": round(sum(numbers), 2),
        "average": round(statistics.fmean(numbers), 2),
        "largest": max(numbers),
    }


def describe(groups, group_by, value, total, skipped):
    largest = groups[0]
    lines = [
        f"**{total:,.2f}** in `{value}` over **{len(groups)}** groups by `{group_by}`.",
        "",
        f"- Largest: **{largest['group']}** with {largest['total']:,.2f}"
        + (f" ({largest['share']:.0%} of all)" if largest["share"] is not None else ""),
        f"- Smallest: **{groups[-1]['group']}** with {groups[-1]['total']:,.2f}",
    ]
    if skipped:
        lines.append(f"- Skipped: {skipped} row{'s' if skipped > 1 else ''} without a number")
    return "\n".join(lines)
