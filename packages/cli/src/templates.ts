/** Templates of `gantry init`: by name, the files of a worker. `NAME` stands for the name of the worker. */

interface Template {
  about: string;
  files: Record<string, string>;
}

const GITIGNORE = '.gantry/\n.gantry.json\n__pycache__/\n.venv/\n.env\n';

const minimal: Template = {
  about: 'a function with an input and an output',
  files: {
    'worker.yaml': `name: NAME
inputs:
  - { name: name, type: text, default: world }
outputs:
  - { name: greeting, type: text }
limits: { timeout_seconds: 60 }
`,
    'examples.yaml': `- name: Greets by name
  inputs: { name: Ada }
  output: { greeting: "Hello, Ada!" }
`,
    'main.py': `def run(name):
    print("greeting", name)
    return {"greeting": f"Hello, {name}!"}
`,
    'test_main.py': `import unittest

from main import run


class Greeting(unittest.TestCase):
    def test_greets_by_name(self):
        self.assertEqual(run("Ada"), {"greeting": "Hello, Ada!"})
`,
  },
};

const cron: Template = {
  about: 'a report at nine on weekdays',
  files: {
    'worker.yaml': `name: NAME
description: Summarizes the previous day, every weekday at nine.
outputs:
  - { name: report, type: markdown }
triggers:
  - { type: cron, cron: "0 9 * * MON-FRI", timezone: Europe/Berlin }
retry: { max_attempts: 3, backoff_seconds: 60 }
`,
    'examples.yaml': `- name: Contains the total
  checks:
    - { kind: contains, path: /report, value: "| Total | 42 |" }
`,
    'main.py': `def run(context):
    # A completed step is not executed again when the run is retried.
    numbers = context.step("load", load)
    return {"report": write_report(numbers)}


def load():
    """Replace this with a query or a request."""
    return {"north": 12, "south": 30}


def write_report(numbers):
    rows = [f"| {region} | {count} |" for region, count in numbers.items()]
    return "\\n".join(["| Region | Count |", "|---|---:|", *rows, f"| Total | {sum(numbers.values())} |"])
`,
    'test_main.py': `import unittest

from main import write_report


class Report(unittest.TestCase):
    def test_contains_the_total(self):
        self.assertIn("| Total | 3 |", write_report({"north": 1, "south": 2}))
`,
  },
};

const webhook: Template = {
  about: 'a webhook that receives data',
  files: {
    'worker.yaml': `name: NAME
description: Processes orders from a shop.
inputs:
  - { name: order, type: json, required: true }
outputs:
  - { name: total, type: number }
triggers:
  - { type: webhook, signed: true }
`,
    'examples.yaml': `- name: Counts items
  inputs: { order: { id: A1, items: [{ price: 1.5, count: 2 }, { price: 1 }] } }
  output: { total: 4 }
`,
    'main.py': `def run(order):
    total = order_total(order)
    print("order", order.get("id"), "over", total)
    return {"total": total}


def order_total(order):
    return round(sum(item["price"] * item.get("count", 1) for item in order["items"]), 2)
`,
    'test_main.py': `import unittest

from main import order_total


class OrderTotal(unittest.TestCase):
    def test_counts_items(self):
        self.assertEqual(order_total({"items": [{"price": 1.5, "count": 2}, {"price": 1}]}), 4)
`,
  },
};

const approval: Template = {
  about: 'large amounts wait for approval',
  files: {
    'worker.yaml': `name: NAME
description: Pays small amounts immediately, and larger ones after approval.
inputs:
  - { name: amount, type: number, minimum: 0, required: true }
  - { name: purpose, type: text, required: true }
outputs:
  - { name: paid, type: number }
  - { name: approved_by, type: text }
approvals: { forbid_self: false, expires_in_seconds: 604800 }
`,
    'examples.yaml': `- name: A small amount is paid immediately
  inputs: { amount: 20, purpose: Tea }
  output: { paid: 20, approved_by: rule for small amounts }
- name: A large amount is paid once it is approved
  inputs: { amount: 300, purpose: Chairs }
  approvals: [{ approve: true, by: ada@example.com }]
  output: { paid: 300, approved_by: ada@example.com }
- name: A large amount that is rejected is not paid
  inputs: { amount: 300, purpose: Chairs }
  approvals: [{ approve: false }]
  checks: [{ kind: fails, error_contains: rejected }]
`,
    'main.py': `LIMIT = 250


def run(amount, purpose, context):
    approved_by = "rule for small amounts"
    if needs_approval(amount):
        # The process ends here, and the run resumes after the decision.
        decision = context.approve(f"Pay {amount:.2f} for {purpose}?", data={"amount": amount, "purpose": purpose})
        approved_by = decision["approved_by"]
    context.step("pay", lambda: pay(amount, purpose))
    return {"paid": amount, "approved_by": approved_by}


def needs_approval(amount):
    return amount > LIMIT


def pay(amount, purpose):
    """Replace this with the request to your bank."""
    print(f"paying {amount:.2f} for {purpose}")
`,
    'test_main.py': `import unittest

from main import needs_approval


class Approval(unittest.TestCase):
    def test_large_amounts_wait_for_approval(self):
        self.assertTrue(needs_approval(251))
        self.assertFalse(needs_approval(250))
`,
  },
};

const agent: Template = {
  about: 'a model that works on a task with tools',
  files: {
    'worker.yaml': `name: NAME
description: Summarizes a text.
runner: agent
inputs:
  - { name: text, type: textarea, required: true }
tools:
  - python
max_turns: 10
budget_usd: 0.2
network: none
output:
  type: object
  properties: { summary: { type: string }, words: { type: integer } }
  required: [summary, words]
`,
    'SKILL.md': `# Summarize

Summarize the input text in three sentences. Count its words with Python, and return both.
`,
  },
};

export const TEMPLATES: Record<string, Template> = { minimal, cron, webhook, approval, agent };

/** @returns the files of a template by path. `types` are those that editors read */
export function fillTemplate({ files }: Template, workerName: string, types: string): Record<string, string> {
  const filled = Object.entries(files).map(([path, content]) => [
    path,
    content.replace('NAME', JSON.stringify(workerName)),
  ]);
  const isPython = 'main.py' in files;
  return { ...Object.fromEntries(filled), '.gitignore': GITIGNORE, ...(isPython && { 'gantry.pyi': types }) };
}
