import type { WorkerTemplate } from './template';

export const followUp: WorkerTemplate = {
  id: 'follow-up',
  category: 'messages',
  name: 'Delayed follow-up',
  about: 'Takes a note, waits for minutes or weeks without using resources, and returns a reminder.',
  tags: ['team'],
  trigger: { type: 'webhook' },
  inputs: [
    {
      name: 'note',
      label: 'Note',
      type: 'textarea',
      default: 'Ask the customer if the fix worked.',
      required: true,
    },
    {
      name: 'minutes',
      label: 'Minutes to wait',
      type: 'number',
      default: 0.05,
      minimum: 0,
      maximum: 525_600,
      description: '1,440 minutes = 1 day',
    },
  ],
  outputs: [
    { name: 'reminder', label: 'Reminder', type: 'markdown' },
    { name: 'waited', label: 'Minutes waited', type: 'number' },
  ],
  code: String.raw`"""Waits without a process: the run is suspended and resumes on its own, even after a restart."""
from datetime import datetime, timezone


def run(note, minutes, context):
    # A step's result is recorded, so this is still the original time when the run resumes.
    began = datetime.fromisoformat(context.step("note the time", now))
    context.log(f"waiting for {minutes:g} minutes")
    context.sleep(minutes * 60)
    waited = (datetime.now(timezone.utc) - began).total_seconds() / 60
    return {"reminder": f"**Reminder** from {began:%d %B, %H:%M} UTC\n\n{note}", "waited": round(waited, 2)}


def now():
    return datetime.now(timezone.utc).isoformat()
`,
};
