"""Reviews expenses: what was done once is not done again, however often this is interrupted."""


def run(expenses, limit, ask, context):
    review = context.step("review", lambda: sort_expenses(expenses, limit))
    context.progress(0.4, f"{len(review['fine'])} fine, {len(review['large'])} large")
    context.artifact("review.md", format_review(review).encode(), "text/markdown")

    approved = review["large"]
    if ask and review["large"]:
        # The run ends its process here and continues when an approver has decided, be it days later.
        answer = context.approve(
            f"Expenses above {limit:g}: {len(review['large'])}",
            message=f"{len(review['fine'])} smaller ones are booked with them; {len(review['duplicates'])} were sent twice.",
            data=review["large"],
            form=[{"name": "note", "label": "Note for the books", "type": "text"}],
        )
        context.log(f"approved by {answer['approved_by']}", note=(answer["data"] or {}).get("note", ""))

    booked = review["fine"] + approved
    for number, expense in enumerate(booked, start=1):
        # A step's result is kept before it is used: after a crash in the middle, what was booked is not booked twice.
        context.step(f"book {number}", lambda expense=expense: book(expense))
        context.progress(0.4 + 0.6 * number / len(booked), f"booked {number} of {len(booked)}")
    return {
        "total": round(sum(expense["amount"] for expense in booked), 2),
        "booked": booked,
        "left_out": review["duplicates"],
    }


def sort_expenses(expenses, limit):
    fine, large, duplicates, seen = [], [], [], set()
    for expense in expenses:
        key = (expense["who"], expense["what"], expense["amount"])
        place = duplicates if key in seen else large if expense["amount"] > limit else fine
        place.append(expense)
        seen.add(key)
    return {"fine": fine, "large": large, "duplicates": duplicates}


def book(expense):
    """Stands for a call to the accounting system."""
    print("booked", expense["what"], expense["amount"])
    return {"what": expense["what"]}


def format_review(review):
    rows = [
        f"| {expense['who']} | {expense['what']} | {expense['amount']:.2f} | {kind} |"
        for kind, expenses in review.items()
        for expense in expenses
    ]
    return "\n".join(["| Who | What | Amount | |", "|---|---|---:|---|", *rows])
