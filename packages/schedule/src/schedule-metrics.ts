import { Counter } from 'prom-client';

const fires = new Counter({
  name: 'gantry_schedule_fires_total',
  help: 'Schedule fires: started, or missed (not started on time, whether or not made up later)',
  labelNames: ['outcome'],
});

/** Adds fires of schedules to the metric that all services report under one name. */
export function recordFires(counts: { started: number; missed: number }): void {
  fires.inc({ outcome: 'started' }, counts.started);
  fires.inc({ outcome: 'missed' }, counts.missed);
}
