import type { WorkerTemplate } from './template';

export const csvReport: WorkerTemplate = {
  id: 'csv-report',
  category: 'reports',
  name: 'CSV report',
  about: 'Groups and totals the rows in a CSV file and saves the result as a table and a file.',
  tags: ['report'],
  inputs: [
    {
      name: 'rows',
      label: 'CSV',
      type: 'textarea',
      required: true,
      description: 'With a header row',
      default: 'region,amount\nNorth,120.50\nSouth,80\nNorth,42.25\nWest,310\n',
    },
    { name: 'group_by', label: 'Column to group by', type: 'text', default: 'region', required: true },
    { name: 'value', label: 'Column to sum', type: 'text', default: 'amount', required: true },
  ],
  outputs: [
    { name: 'total', label: 'Total', type: 'number' },
    { name: 'groups', label: 'Groups', type: 'table' },
    { name: 'summary', label: 'Summary', type: 'markdown' },
  ],
  code: `"""Groups the rows of a CSV file by one column and sums another."""
import csv
import io
from collections import defaultdict


def run(rows, group_by, value, context):
    table = list(csv.DictReader(io.StringIO(rows.strip())))
    if not table:
        raise ValueError("the CSV has no rows below the header")
    for column in (group_by, value):
        if column not in table[0]:
            raise ValueError(f"column {column!r} not found; the columns are {', '.join(table[0])}")

    amounts = defaultdict(list)
    for number, row in enumerate(table, 2):
        try:
            amounts[row[group_by]].append(float(row[value]))
        except ValueError:
            context.log(f"skipped line {number}: {row[value]!r} is not a number", level="warning")
    groups = [
        {group_by: name, "rows": len(values), "total": round(sum(values), 2)}
        for name, values in sorted(amounts.items(), key=lambda item: -sum(item[1]))
    ]
    if not groups:
        raise ValueError(f"no row has a number in {value!r}")
    total = round(sum(group["total"] for group in groups), 2)

    file = io.StringIO()
    writer = csv.DictWriter(file, fieldnames=list(groups[0]))
    writer.writeheader()
    writer.writerows(groups)
    context.artifact("report.csv", file.getvalue().encode(), "text/csv")

    largest = groups[0]
    summary = f"**{total:,.2f}** in {len(groups)} groups. The largest is **{largest[group_by]}** with {largest['total']:,.2f}."
    return {"total": total, "groups": groups, "summary": summary}
`,
};
