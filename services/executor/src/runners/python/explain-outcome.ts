/** Explains run outcomes to the owners of runs. */
import type { Job, RunError } from '@gantry/events';
import { MEMORY_LIMIT, WALL_LIMIT } from '../../sandbox/kill-reasons';
import type { RunOutcome } from '../runner';
import type { Outcome } from './run-in-child';

/** Reasons for an agent to end without a result; code of workers cannot use these. */
const AGENT_CODES: readonly RunError['code'][] = [
  ...(['model_unavailable', 'output_invalid', 'turns_exceeded', 'budget_exceeded'] as const),
];

export function toRunOutcome(outcome: Outcome, job: Job): RunOutcome {
  if (outcome.kind === 'returned' || outcome.kind === 'suspended') return outcome;
  if (outcome.kind === 'killed' && outcome.reason === WALL_LIMIT) return { kind: 'out_of_time' };
  return {
    kind: 'failed',
    error: buildRunError(outcome, job),
    ...(outcome.kind === 'raised' && { step: outcome.step }),
  };
}

function buildRunError(
  outcome: Exclude<Outcome, { kind: 'returned' | 'suspended' }>,
  { limits, agent }: Job,
): RunError {
  const cpuLimit: RunError = {
    code: 'timeout',
    message: `The run exceeded its CPU time limit of ${limits.cpuSeconds} s.`,
  };
  const noMemory: RunError = {
    code: 'out_of_memory',
    message: `The run exceeded its memory limit of ${limits.memoryBytes >> 20} MB.`,
  };
  switch (outcome.kind) {
    case 'cpu':
      return cpuLimit;
    case 'out_of_memory':
      return noMemory;
    case 'killed':
      if (outcome.reason === MEMORY_LIMIT) return noMemory;
      return { code: 'sandbox', message: `The run was stopped: ${outcome.reason}.` };
    case 'broken':
      return { code: 'sandbox', message: `The run produced no result: ${outcome.message}.` };
    case 'raised': {
      const { type, message, trace } = outcome;
      const details = { type, ...(trace && { trace }) };
      if (outcome.cause === 'cpu') return { ...cpuLimit, ...details };
      if (outcome.cause === 'memory') return { ...noMemory, ...details };
      if (outcome.cause === 'output') return { code: 'output_too_large', message };
      const code = agent && AGENT_CODES.find((agentCode) => agentCode === outcome.code);
      return { code: code ?? 'exception', message, ...details };
    }
  }
}
