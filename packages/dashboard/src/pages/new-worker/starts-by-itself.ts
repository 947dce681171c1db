import { cronWords } from '../../schedules/cron-words';
import type { WorkerTemplate } from '../../workers/templates/template';
import { triggerWords } from '../../workers/trigger-words';

/** Describes the trigger of a template, capitalized; the time zone is set when the worker is created. */
export function startsByItself({ trigger }: WorkerTemplate): string {
  const words =
    trigger?.type === 'cron' ? (cronWords(trigger.cron) ?? trigger.cron) : triggerWords(trigger ?? { type: 'manual' });
  return words.charAt(0).toUpperCase() + words.slice(1);
}
