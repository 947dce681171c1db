/** The events that alerts can be about. */
export const runAlertTypes = ['run.completed', 'run.failed', 'run.timed_out', 'run.cancelled', 'run.rejected'] as const;
const alertTypes = [
  ...runAlertTypes,
  'approval.requested',
  'schedule.missed',
  'connection.failed',
  'network.refused',
  'evaluation.failed',
] as const;

export type AlertType = (typeof alertTypes)[number];
