"""Adds up invoices by month and finds those that are overdue."""
import csv
import dataclasses
import datetime
import decimal
import io

from dateutil import parser as dates

COLUMNS = ("number", "customer", "issued", "due", "amount", "paid")


@dataclasses.dataclass
class Invoice:
    number: str
    customer: str
    issued: datetime.date
    due: datetime.date
    amount: decimal.Decimal
    paid: bool


def run(invoices, as_of=None, day_first=True, context=None):
    today = datetime.date.fromisoformat(as_of) if as_of else datetime.date.today()
    parsed = list(read_invoices(invoices, day_first, context))
    unpaid = [invoice for invoice in parsed if not invoice.paid]
    overdue = sorted((invoice for invoice in unpaid if invoice.due < today), key=lambda invoice: invoice.due)
    open_total = sum((invoice.amount for invoice in unpaid), decimal.Decimal())
    overdue_total = sum((invoice.amount for invoice in overdue), decimal.Decimal())
    context.log("invoices added up", invoices=len(parsed), unpaid=len(unpaid), overdue=len(overdue))
    return {
        "summary": f"{len(parsed)} invoices as of {today}: **{open_total:,.2f}** open, "
        f"of which **{overdue_total:,.2f}** overdue in {len(overdue)}.",
        "months": group_by_month(parsed),
        "overdue": [
            {"number": i.number, "customer": i.customer, "due": i.due, "days_late": (today - i.due).days, "amount": i.amount}
            for i in overdue
        ],
        # Dates and decimals need no conversion here: a run's outputs may hold them.
        "open_total": open_total,
        "overdue_total": overdue_total,
    }


def read_invoices(text, day_first, context):
    """Returns every readable row; the others are logged with the reason."""
    rows = csv.DictReader(io.StringIO(text.strip()), skipinitialspace=True)
    missing = [column for column in COLUMNS if column not in (rows.fieldnames or [])]
    if missing:
        raise ValueError("the first line must name the columns " + ", ".join(missing))
    for row in rows:
        try:
            yield read_row(row, day_first)
        except ValueError as problem:
            context.log(f"line {rows.line_num} is left out: {problem}", "warning", number=row["number"])


def read_row(row, day_first):
    values = {column: (row[column] or "").strip() for column in COLUMNS}
    try:
        amount = decimal.Decimal(values["amount"].replace(",", ""))
    except decimal.InvalidOperation:
        raise ValueError(f"the amount {values['amount']!r} is not a number") from None
    if not amount.is_finite():
        raise ValueError(f"the amount {values['amount']!r} is not a number")
    return Invoice(
        number=values["number"],
        customer=values["customer"],
        issued=read_date(values["issued"], day_first),
        due=read_date(values["due"], day_first),
        amount=amount,
        paid=values["paid"].lower() in ("yes", "y", "true", "1", "paid"),
    )


def read_date(text, day_first):
    """2026-03-04 always means the fourth of March; only in other notations the order of day and month matters."""
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        pass
    try:
        return dates.parse(text, dayfirst=day_first).date()
    except (ValueError, OverflowError):
        raise ValueError(f"{text!r} is not a date") from None


def group_by_month(invoices):
    months = {}
    for invoice in invoices:
        name = invoice.issued.strftime("%Y-%m")
        month = months.setdefault(name, {"invoices": 0, "amount": decimal.Decimal(), "paid": decimal.Decimal()})
        month["invoices"] += 1
        month["amount"] += invoice.amount
        month["paid"] += invoice.amount if invoice.paid else 0
    return [{"month": name, **months[name]} for name in sorted(months)]
