import type { WorkerRun } from '../shell/api';

const SANDBOXES = {
  warm: 'Warm: its code was imported before',
  fresh: 'Fresh: its code was imported for this run',
  process: 'An interpreter of its own',
};

/** Where the code of a run ran, and why it could not be imported before. */
export const describeSandbox = ({ mode, reason }: NonNullable<WorkerRun['sandbox']>) =>
  reason === null ? SANDBOXES[mode] : `${SANDBOXES[mode]}, since ${reason}`;
