import type { WorkerTemplate } from './template';

export const nightlyCleanUp: WorkerTemplate = {
  id: 'nightly-clean-up',
  category: 'approvals',
  name: 'Nightly clean-up',
  about: 'Finds unused items every night and removes them after a person approves the list.',
  tags: ['clean-up'],
  trigger: { type: 'cron', cron: '30 2 * * *' },
  inputs: [
    {
      name: 'items',
      label: 'Items',
      type: 'json',
      required: true,
      description: 'A list of objects with name and last_used',
      default: [
        { name: 'trial-account-17', last_used: '2025-02-11' },
        { name: 'trial-account-18', last_used: '2025-06-30' },
      ],
    },
    { name: 'days', label: 'Days unused', type: 'integer', default: 90, minimum: 1 },
    { name: 'ask', label: 'Require approval before removal', type: 'boolean', default: true },
  ],
  outputs: [
    { name: 'removed', label: 'Removed', type: 'table' },
    { name: 'kept', label: 'Kept', type: 'number' },
  ],
  code: String.raw`"""Removes unused items, after a person has approved the list."""
from datetime import date, timedelta


def run(items, days, ask, context):
    limit = date.today() - timedelta(days=days)
    old = [item for item in items if date.fromisoformat(item["last_used"]) < limit]
    context.log(f"{len(old)} of {len(items)} haven't been used in {days} days")
    if not old:
        return {"removed": [], "kept": len(items)}
    if ask:
        # The run waits here without using a process. Rejecting the request ends the run without removing anything.
        context.approve(
            f"Remove {len(old)} items that haven't been used in {days} days?",
            "\n".join(f"- {item['name']}, last used {item['last_used']}" for item in old),
            data={"items": len(old), "kept": len(items) - len(old)},
        )
    removed = []
    for at, item in enumerate(old, 1):
        # Each removal is a step, so a retried run continues with the next one.
        removed.append(context.step(f"remove {item['name']}", remove, item))
        context.progress(at / len(old))
    return {"removed": removed, "kept": len(items) - len(removed)}


def remove(item):
    # Put your own deletion code here, such as a request to the system that stores the items.
    return {"name": item["name"], "last used": item["last_used"]}
`,
};
