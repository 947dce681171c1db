/** Errors of runs in the words of the people whose runs they are. */
import type { Job, RunError } from '@gantry/events';
import { DependencyError } from '../../dependencies/dependencies';
import { MEMORY_LIMIT, WALL_LIMIT } from '../../sandbox/kill-reasons';
import type { Outcome } from './run-in-child';

/** The error of a run that failed in the executor, not in its code. */
export function errorOf(err: unknown, hadStarted: boolean): RunError {
  if (err instanceof DependencyError) return { code: 'dependency_install', message: err.message };
  const deed = hadStarted ? 'carried to its end' : 'prepared';
  return { code: 'sandbox', message: `The run could not be ${deed}: ${(err as Error).message}` };
}

export const wallLimit = ({ limits }: Job): RunError => ({
  code: 'timeout',
  message: `The run took longer than its ${limits.wallMs / 1000} s.`,
});

/** The text that the person whose run it was gets to read. */
export function explain(outcome: Exclude<Outcome, { kind: 'returned' | 'suspended' }>, job: Job): RunError {
  const { limits } = job;
  const cpuLimit: RunError = { code: 'timeout', message: `The run used its ${limits.cpuSeconds} s of CPU time.` };
  const noMemory: RunError = {
    code: 'out_of_memory',
    message: `The run needed more than its ${limits.memoryBytes >> 20} MB of memory.`,
  };
  switch (outcome.kind) {
    case 'cpu':
      return cpuLimit;
    case 'out_of_memory':
      return noMemory;
    case 'killed':
      if (outcome.reason === WALL_LIMIT) return wallLimit(job);
      if (outcome.reason === MEMORY_LIMIT) return noMemory;
      return { code: 'sandbox', message: `The run was stopped: ${outcome.reason}.` };
    case 'broken':
      return { code: 'sandbox', message: `The run gave no result: ${outcome.message}.` };
    case 'raised': {
      const { type, message, trace } = outcome;
      const shown = { type, ...(trace && { trace }) };
      if (outcome.cause === 'cpu') return { ...cpuLimit, ...shown };
      if (outcome.cause === 'memory') return { ...noMemory, ...shown };
      if (outcome.cause === 'output') return { code: 'output_too_large', message };
      return { code: 'exception', message, ...shown };
    }
  }
}
