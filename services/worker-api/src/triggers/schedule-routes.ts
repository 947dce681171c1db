import { type Operations, ok } from '@gantry/http';
import { checkSchedule, nextFire } from '@gantry/schedule';

const PREVIEWED = 10;

export function scheduleOperations({ now }: { now: () => Date }): Operations<'worker'> {
  return {
    previewSchedule: ({ body }) => {
      const { cron, timezone = 'UTC' } = body as { cron: string; timezone?: string };
      const schedule = { cron, timezone };
      checkSchedule(schedule, { cron: 'cron', timezone: 'timezone' });
      const fires: Date[] = [];
      for (let fire = nextFire(schedule, now()); fire && fires.length < PREVIEWED; fire = nextFire(schedule, fire)) {
        fires.push(fire);
      }
      return ok({ fires: fires.map((fire) => fire.toISOString()) });
    },
  };
}
