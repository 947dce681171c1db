import type { Overview } from '../../shell/api';

const SHOWN = 4;

/** First messages that fit what the workspace has and what happened in it, the most pressing first. */
export function suggestionsFor({ workers, runs, approvals_pending: pending, upcoming }: Overview): string[] {
  const [failing] = workers.failing;
  const failed = runs.last_24h.failed + runs.last_24h.timed_out;
  const [next] = upcoming;
  return [
    failing && `Why did “${failing.name}” fail, and how can it be mended?`,
    pending > 0 && 'What waits for a decision, and what does each decision do?',
    workers.total === 0 && 'Make a worker that counts the words of a text, and run it daily at nine.',
    failed > 1 && 'Which runs failed in the last day, and what do they have in common?',
    runs.last_24h.total > 0 && 'What ran in the last day, and what did it cost?',
    next && `What does “${next.name}” do, and when does it run?`,
    workers.total > 0 && 'Which workers are there, and which of them have not run for a while?',
    workers.total === 0 && 'What can you do in this workspace?',
    'Find a skill for writing release notes.',
    'Make a worker that fetches a page every hour and tells me when it changes.',
  ]
    .filter((one) => typeof one === 'string')
    .slice(0, SHOWN);
}
