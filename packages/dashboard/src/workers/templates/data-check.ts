import type { WorkerTemplate } from './template';

export const dataCheck: WorkerTemplate = {
  id: 'data-check',
  category: 'data',
  name: 'Data check',
  about: 'Checks records for missing values, duplicates and invalid numbers, and lists any problems.',
  tags: ['data'],
  trigger: { type: 'webhook' },
  inputs: [
    {
      name: 'records',
      label: 'Records',
      type: 'json',
      required: true,
      description: 'A list of objects',
      default: [
        { id: 1, email: 'ada@example.com', amount: 20 },
        { id: 2, email: '', amount: 12 },
        { id: 2, email: 'grace@example.com', amount: 'many' },
      ],
    },
    { name: 'key', label: 'Unique field', type: 'text', default: 'id' },
    {
      name: 'required',
      label: 'Required fields',
      type: 'text',
      default: 'id, email',
      description: 'Separated by commas',
    },
    {
      name: 'numbers',
      label: 'Numeric fields',
      type: 'text',
      default: 'amount',
      description: 'Separated by commas',
    },
    { name: 'strict', label: 'Fail if problems are found', type: 'boolean', default: false },
  ],
  outputs: [
    { name: 'checked', label: 'Records checked', type: 'number' },
    { name: 'problems', label: 'Problems', type: 'table' },
  ],
  code: `"""Validates records before they are used. A webhook can send them here first."""


def run(records, key, required, numbers, strict, context):
    required, numbers = names(required), names(numbers)
    problems, seen = [], {}
    for at, record in enumerate(records, 1):
        if not isinstance(record, dict):
            problems.append(problem(at, "", "is not an object"))
            continue
        for field in required:
            if record.get(field) in (None, ""):
                problems.append(problem(at, field, "is missing"))
        for field in numbers:
            value = record.get(field)
            if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
                problems.append(problem(at, field, f"is {value!r}, not a number"))
        if key and key in record:
            value = str(record[key])
            if value in seen:
                problems.append(problem(at, key, f"duplicates record {seen[value]}"))
            seen.setdefault(value, at)
        context.progress(at / len(records))

    context.log(f"{len(problems)} problems in {len(records)} records", level="warning" if problems else "info")
    if problems and strict:
        first = problems[0]
        raise ValueError(f"record {first['record']}: {first['field']} {first['problem']}, and {len(problems) - 1} more")
    return {"checked": len(records), "problems": problems}


def names(text):
    return [name.strip() for name in text.split(",") if name.strip()]


def problem(record, field, what):
    return {"record": record, "field": field, "problem": what}
`,
};
