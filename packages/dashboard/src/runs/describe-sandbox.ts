import type { WorkerRun } from '../shell/api';

const SANDBOX_LABELS = {
  warm: 'Warm, with code already imported',
  fresh: 'Fresh, with code imported for this run',
  process: 'Separate interpreter process',
};

/** Describes where the code of a run ran, and why it could not be imported before. */
export const describeSandbox = ({ mode, reason }: NonNullable<WorkerRun['sandbox']>) =>
  reason === null ? SANDBOX_LABELS[mode] : `${SANDBOX_LABELS[mode]} (${reason})`;
