import type { WorkerTemplate } from './template';

export const importInSteps: WorkerTemplate = {
  id: 'import-in-steps',
  category: 'data',
  name: 'Multi-step import',
  about: 'Imports records page by page. If a page fails, a retry continues from that page.',
  tags: ['data'],
  trigger: { type: 'cron', cron: '0 * * * *' },
  inputs: [
    { name: 'pages', label: 'Pages', type: 'integer', default: 5, minimum: 1, maximum: 100 },
    {
      name: 'break_at',
      label: 'Fail once on page',
      type: 'integer',
      default: 3,
      minimum: 0,
      description: 'Shows how a retry picks up where the run failed. Enter 0 to turn this off.',
    },
  ],
  outputs: [
    { name: 'imported', label: 'Imported', type: 'number' },
    { name: 'attempts', label: 'Attempts', type: 'number' },
    { name: 'pages', label: 'Pages', type: 'table' },
  ],
  limits: { concurrency: 1 },
  retry: { max_attempts: 3, backoff_seconds: 1 },
  code: `"""Imports pages of records. Completed pages are not fetched again when the run is retried."""


def run(pages, break_at, context):
    done = []
    for number in range(1, pages + 1):
        if number == break_at and context.attempt == 1:
            raise ConnectionError(f"page {number} failed; the next attempt continues from here")
        done.append(context.step(f"page {number}", fetch, number))
        context.progress(number / pages, f"page {number} of {pages}")
    imported = sum(page["records"] for page in done)
    context.log("all pages imported", imported=imported, attempts=context.attempt)
    return {"imported": imported, "attempts": context.attempt, "pages": done}


def fetch(number):
    # Replace with your own source: read one page, store its records, and return the count.
    print(f"fetching page {number}")
    return {"page": number, "records": 20 + number}
`,
};
