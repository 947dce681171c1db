import { cronWords } from '../../schedules/cron-words';
import type { WorkerTemplate } from '../../workers/templates/template';
import { triggerWords } from '../../workers/trigger-words';

/** Its trigger in words, with a capital; without a time zone, which it gets when it is made. */
export function startsByItself({ trigger }: WorkerTemplate): string {
  const words =
    trigger?.type === 'cron' ? (cronWords(trigger.cron) ?? trigger.cron) : triggerWords(trigger ?? { type: 'manual' });
  return words.charAt(0).toUpperCase() + words.slice(1);
}
