import type { LiveStatus } from '../live-run';
import { getRunStatusDisplay } from '../run-status';
import type { Entry, TimelineSource } from './entry';

const FINAL_STATUSES = ['completed', 'failed', 'cancelled', 'timed_out', 'rejected'] as const;
type FinalStatus = (typeof FINAL_STATUSES)[number];

const findFinalStatus = (status: string | undefined): FinalStatus | undefined =>
  FINAL_STATUSES.find((ended) => ended === status);

/**
 * Builds an entry for each period in which an executor held the run. A waiting run holds none, and resumes in
 * another.
 */
export function buildAttemptEntries({ run, live }: TimelineSource): Entry[] {
  const { statuses } = live;
  if (statuses.length === 0) return run.started_at === null ? [] : [buildRunEntry(run)];
  let count = 0;
  return statuses.flatMap((status, index) => {
    if (status.status !== 'running') return [];
    const continued = hasWaited(statuses.slice(0, index));
    if (!continued) count++;
    const next = statuses[index + 1];
    return [
      {
        id: `attempt-${status.at}-${index}`,
        name: continued ? 'Resumed' : `Attempt ${count}`,
        ...getAttemptOutcome(next),
        from: status.at,
        to: next?.at ?? null,
      },
    ];
  });
}

/** Events are kept for less time than runs. */
function buildRunEntry(run: TimelineSource['run']): Entry {
  const ended = findFinalStatus(run.status);
  const { tone, word } = getRunStatusDisplay({ status: ended ?? 'running' });
  const to = run.completed_at === null ? null : Date.parse(run.completed_at);
  return { id: 'attempt', name: 'Attempt', tone, word, from: Date.parse(run.started_at ?? run.created_at), to };
}

function getAttemptOutcome(next: LiveStatus | undefined): Pick<Entry, 'tone' | 'word'> {
  if (!next) return getRunStatusDisplay({ status: 'running' });
  const ended = findFinalStatus(next.status);
  if (ended) return getRunStatusDisplay({ status: ended });
  if (next.waitsFor === 'retry' || next.status === 'running') return getRunStatusDisplay({ status: 'failed' });
  return { tone: 'success', word: 'Suspended' };
}

/** Whether the run suspended itself since it last ran. A retry also starts from the top, but as a new attempt. */
function hasWaited(before: LiveStatus[]): boolean {
  const ranAt = before.findLastIndex(({ status }) => status === 'running');
  const since = ranAt < 0 ? [] : before.slice(ranAt + 1);
  return since.some(
    ({ status, waitsFor }) => status === 'pending_approval' || ['sleep', 'call'].includes(waitsFor ?? ''),
  );
}

/** Builds entries for the periods in which only the platform delayed the run: before its start and before retries. */
export function buildWaitEntries({ run, live }: TimelineSource): Entry[] {
  const created = Date.parse(run.created_at);
  const held = run.approvals.some(({ id }) => run.steps.every(({ approval_id }) => approval_id !== id));
  const started = run.started_at === null ? run.completed_at : run.started_at;
  const first: Entry = {
    id: 'queued',
    name: 'Queued',
    ...(started === null ? getRunStatusDisplay({ status: 'queued' }) : { tone: 'idle', word: 'Done' }),
    from: created,
    to: started === null ? null : Date.parse(started),
  };
  const retries = live.statuses.flatMap((status, index): Entry[] => {
    if (status.waitsFor !== 'retry') return [];
    const next = live.statuses[index + 1];
    return [
      {
        id: `retry-${status.at}`,
        name: 'Waiting to retry',
        ...(next ? { tone: 'idle', word: 'Done' } : getRunStatusDisplay({ status: 'queued', isWaiting: true })),
        from: status.at,
        to: next?.at ?? null,
      },
    ];
  });
  return held ? retries : [first, ...retries];
}
