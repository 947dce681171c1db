import { type Operations, ok } from '@gantry/http';
import { checkSchedule, findNextFire } from '@gantry/schedule';

const PREVIEW_FIRES = 10;
/** Stands for an expression that the schema has refused. */
const EVERY_DAY = '0 0 * * *';

/** @throws AppError 400 */
export function parsePreviewQuery({ cron = EVERY_DAY, timezone = 'UTC' }: { cron?: string; timezone?: string }) {
  checkSchedule({ cron, timezone }, { cron: 'cron', timezone: 'timezone' });
  return { cron, timezone };
}

export function createScheduleOperations({ now }: { now: () => Date }): Operations<'worker'> {
  return {
    previewSchedule: ({ body }) => {
      const schedule = parsePreviewQuery(body);
      const fires: Date[] = [];
      for (
        let fire = findNextFire(schedule, now());
        fire && fires.length < PREVIEW_FIRES;
        fire = findNextFire(schedule, fire)
      ) {
        fires.push(fire);
      }
      return ok({ fires: fires.map((fire) => fire.toISOString()) });
    },
  };
}
