import { describeCron } from '../../schedules/describe-cron';
import type { WorkerTemplate } from '../../workers/templates/template';
import { formatTrigger } from '../../workers/trigger-descriptions';

/** Describes the trigger of a template, capitalized; the time zone is set when the worker is created. */
export function describeTemplateTrigger({ trigger }: WorkerTemplate): string {
  const description =
    trigger?.type === 'cron'
      ? (describeCron(trigger.cron) ?? trigger.cron)
      : formatTrigger(trigger ?? { type: 'manual' });
  return description.charAt(0).toUpperCase() + description.slice(1);
}
