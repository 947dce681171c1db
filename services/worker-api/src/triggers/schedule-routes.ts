import type { Operations } from '@gantry/http';
import { checkSchedule, nextFire } from '@gantry/schedule';

const PREVIEWED = 10;

export function scheduleOperations({ now }: { now: () => Date }): Operations {
  return {
    previewSchedule: (req, res) => {
      const { cron, timezone = 'UTC' } = req.body as { cron: string; timezone?: string };
      const schedule = { cron, timezone };
      checkSchedule(schedule, { cron: 'cron', timezone: 'timezone' });
      const fires: Date[] = [];
      for (let fire = nextFire(schedule, now()); fire && fires.length < PREVIEWED; fire = nextFire(schedule, fire)) {
        fires.push(fire);
      }
      res.json({ fires: fires.map((fire) => fire.toISOString()) });
    },
  };
}
