import type { Job } from '@gantry/events';

/** One attempt at a run, and the token that shows that it is ours. */
export type Attempt = Pick<Job, 'runId' | 'source' | 'attempt' | 'token'>;
