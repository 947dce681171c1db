import type { WorkerTemplate } from './template';

export const invoiceTable: WorkerTemplate = {
  id: 'invoice-table',
  category: 'reports',
  name: 'Invoice table',
  about: 'Creates an invoice table with exact net, tax and gross amounts, plus a file you can send.',
  tags: ['finance'],
  inputs: [
    {
      name: 'lines',
      label: 'Lines',
      type: 'json',
      required: true,
      description: 'A list of objects with the fields what, quantity and price',
      default: [
        { what: 'Consulting (hours)', quantity: 12, price: 95 },
        { what: 'Travel', quantity: 1, price: 148.9 },
      ],
    },
    { name: 'tax_percent', label: 'Tax rate (%)', type: 'number', default: 19, minimum: 0, maximum: 100 },
    { name: 'number', label: 'Invoice number', type: 'text', default: '2026-001' },
  ],
  outputs: [
    { name: 'gross', label: 'Amount due', type: 'number' },
    { name: 'lines', label: 'Lines', type: 'table' },
    { name: 'invoice', label: 'Invoice', type: 'markdown' },
  ],
  code: String.raw`"""Totals an invoice with exact decimals instead of floats."""
from decimal import ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")


def run(lines, tax_percent, number, context):
    if not lines:
        raise ValueError("an invoice needs at least one line")
    table = [priced(position, line) for position, line in enumerate(lines, 1)]
    net = sum((row["net"] for row in table), Decimal(0))
    tax = cents(net * Decimal(str(tax_percent)) / 100)
    gross = net + tax
    context.log("invoice totaled", lines=len(table), gross=float(gross))

    rows = "\n".join(f"| {row['what']} | {row['quantity']} | {row['price']} | {row['net']} |" for row in table)
    invoice = (
        f"## Invoice {number}\n\n| Item | Quantity | Price | Net |\n|---|--:|--:|--:|\n{rows}\n\n"
        f"Net {net}, tax {tax} ({tax_percent}%), **total due {gross}**"
    )
    context.artifact(f"invoice-{number}.md", invoice.encode(), "text/markdown")
    shown = [{**row, "price": float(row["price"]), "net": float(row["net"])} for row in table]
    return {"gross": float(gross), "lines": shown, "invoice": invoice}


def priced(position, line):
    try:
        quantity, price = Decimal(str(line["quantity"])), cents(Decimal(str(line["price"])))
    except (KeyError, TypeError, ArithmeticError):
        raise ValueError(f"line {position} needs a quantity and a price") from None
    return {
        "position": position,
        "what": str(line.get("what", "")),
        "quantity": float(quantity),
        "price": price,
        "net": cents(quantity * price),
    }


def cents(amount):
    return amount.quantize(CENT, rounding=ROUND_HALF_UP)
`,
};
