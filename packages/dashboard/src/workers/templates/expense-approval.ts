import type { WorkerTemplate } from './template';

export const expenseApproval: WorkerTemplate = {
  id: 'expense-approval',
  category: 'approvals',
  name: 'Expense approval',
  about:
    'Books small expenses immediately and requests approval for larger ones. Approvers choose the account in a form.',
  tags: ['finance'],
  trigger: { type: 'webhook' },
  inputs: [
    { name: 'who', label: 'Name', type: 'text', default: 'Ada', required: true },
    { name: 'what', label: 'Purpose', type: 'text', default: 'Team dinner', required: true },
    { name: 'amount', label: 'Amount', type: 'number', default: 412.5, minimum: 0, required: true },
    { name: 'limit', label: 'Approval limit', type: 'number', default: 250, minimum: 0 },
  ],
  outputs: [
    { name: 'booked', label: 'Amount booked', type: 'number' },
    { name: 'account', label: 'Account', type: 'text' },
    { name: 'approved_by', label: 'Approved by', type: 'text' },
  ],
  code: `"""Asks for approval before spending money: small amounts go through, and larger ones wait for a decision."""


def run(who, what, amount, limit, context):
    account, approved_by = "Small expenses", "small-expense rule"
    if amount > limit:
        decision = context.approve(
            f"Pay {who} {amount:,.2f} for {what}?",
            f"This exceeds the limit of {limit:,.2f}.",
            data={"who": who, "what": what, "amount": amount},
            form=[
                {"name": "account", "label": "Account", "type": "select", "required": True,
                 "options": ["Travel", "Events", "Equipment"]},
                {"name": "amount", "label": "Amount to pay", "type": "number", "default": amount,
                 "minimum": 0, "maximum": amount},
            ],
            expires_in=7 * 24 * 3600,
        )
        answer = decision["data"] or {}
        account, approved_by = answer.get("account", account), decision["approved_by"]
        amount = answer.get("amount", amount)
    booked = context.step("book it", book, who, what, amount, account)
    return {"booked": booked, "account": account, "approved_by": approved_by}


def book(who, what, amount, account):
    # Call your accounting API here. A completed step is not repeated on retry.
    print(f"{amount:,.2f} for {who}, {what}, to {account}")
    return round(amount, 2)
`,
};
