import type { WorkerTemplate } from './template';

export const onDuty: WorkerTemplate = {
  id: 'on-duty',
  category: 'messages',
  name: 'On-call rotation',
  about: 'Every Monday, reports who’s on call this week and next based on a rotating list of names.',
  tags: ['team'],
  trigger: { type: 'cron', cron: '0 9 * * MON' },
  inputs: [
    {
      name: 'people',
      label: 'People',
      type: 'textarea',
      default: 'Ada\nGrace\nLinus',
      required: true,
      description: 'One name per line, in rotation order',
    },
    { name: 'since', label: 'Rotation start date', type: 'date', default: '2026-01-05', required: true },
    { name: 'today', label: 'Date', type: 'date', description: 'Defaults to today' },
  ],
  outputs: [
    { name: 'on_duty', label: 'On call', type: 'text' },
    { name: 'next_weeks', label: 'Upcoming weeks', type: 'table' },
  ],
  code: `"""A weekly on-call rotation."""
from datetime import date, timedelta

WEEKS_SHOWN = 6


def run(people, since, today="", context=None):
    names = [name.strip() for name in people.splitlines() if name.strip()]
    if not names:
        raise ValueError("the list has no names")
    start = find_monday(date.fromisoformat(since))
    this_week = find_monday(date.fromisoformat(today) if today else date.today())
    weeks = []
    for ahead in range(WEEKS_SHOWN):
        week = this_week + timedelta(weeks=ahead)
        turn = (week - start).days // 7
        weeks.append({"week of": week.isoformat(), "who": names[turn % len(names)]})
    context.log(f"{weeks[0]['who']} is on call this week, {weeks[1]['who']} next week")
    return {"on_duty": weeks[0]["who"], "next_weeks": weeks}


def find_monday(day):
    return day - timedelta(days=day.weekday())
`,
};
