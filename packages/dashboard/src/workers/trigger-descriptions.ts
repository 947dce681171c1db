import { upperFirst } from '@mantine/hooks';
import { describeSchedule } from '../schedules/describe-cron';
import type { Trigger } from '../shell/api';

export type EventName = NonNullable<Trigger['on']>[number];

const EVENT_LABELS: Record<EventName, string> = {
  'run.completed': 'a run completes',
  'run.failed': 'a run fails',
  'run.timed_out': 'a run times out',
  'run.cancelled': 'a run is cancelled',
  'alert.raised': 'an alert is raised',
  'approval.requested': 'an approval is requested',
  'schedule.missed': 'a scheduled run is missed',
};

export const EVENT_NAMES = Object.keys(EVENT_LABELS) as EventName[];

export const getEventLabel = (name: EventName): string => EVENT_LABELS[name];

/** Describes one trigger: "weekdays at 9:00, Berlin". */
export function formatTrigger({ type, cron = '', timezone = 'UTC', on = [], source_id }: Trigger): string {
  switch (type) {
    case 'cron':
      return describeSchedule({ cron, timezone });
    case 'webhook':
      return 'when the webhook is called';
    case 'event':
      return `when ${listFormat.format(on.map(getEventLabel))}${source_id ? ` in ${getSourceLabel(source_id)}` : ''}`;
    default:
      return 'when run manually';
  }
}

/** Worker ids are readable, automation ids are not. */
const getSourceLabel = (sourceId: string): string => (sourceId.startsWith('aut_') ? 'an automation' : sourceId);

const listFormat = new Intl.ListFormat('en', { type: 'disjunction' });

/** Describes all triggers, capitalized: "Weekdays at 9:00, Berlin; on a webhook call". */
export function formatTriggers(triggers: Trigger[]): string {
  const [first = 'manual runs only', ...others] = triggers.map(formatTrigger);
  return upperFirst([first, ...others].join('; '));
}
