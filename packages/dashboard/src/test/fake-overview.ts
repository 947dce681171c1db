import type { WorkerSchemas } from '@gantry/sdk';
import type { FakeRequest, FakeResponse } from './fake-accounts';

type Overview = WorkerSchemas['Overview'];

const DAY_MS = 86_400_000;
const formatDayBefore = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

/** Builds the overview of an empty workspace. */
export function buildOverview(over: Partial<Overview> = {}): Overview {
  const noOutcomes = { capped: false, completed: 0, failed: 0, timed_out: 0, cancelled: 0, rejected: 0 };
  return {
    workers: { total: 0, active: 0, paused: 0, archived: 0, capped: false, failing: [] },
    runs: {
      queued: 0,
      running: 0,
      suspended: 0,
      pending_approval: 0,
      capped: false,
      last_24h: { total: 0, ...noOutcomes },
      by_day: Array.from({ length: 14 }, (_, index) => ({ day: formatDayBefore(13 - index), runs: 0, failed: 0 })),
    },
    upcoming: [],
    approvals_pending: 0,
    automations: { total: 0, active: 0, failing: 0, queued: 0, running: 0, capped: false },
    automations_unavailable: null,
    queue_depth: 0,
    executors: [
      {
        id: 'exec_1',
        state: 'ready',
        slots: 4,
        busy: 0,
        isolation: 'zygote',
        python: '3.11.2',
        started_at: new Date().toISOString(),
        last_seen_at: new Date().toISOString(),
      },
    ],
    generated_at: new Date().toISOString(),
    ...over,
  };
}

/** Returns undefined for requests of another resource. */
export function handleOverviewRequest(overview: Overview, { line, signedIn }: FakeRequest): FakeResponse | undefined {
  if (line !== 'GET /api/system/overview') return undefined;
  return signedIn ? { status: 200, body: overview } : { status: 401, body: { detail: 'sign in' } };
}
