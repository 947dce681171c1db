import type { Job } from '@gantry/events';

/** One attempt at a run, and the token that proves it belongs to this executor. */
export type Attempt = Pick<Job, 'runId' | 'source' | 'attempt' | 'token'>;
