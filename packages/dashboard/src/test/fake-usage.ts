import type { WorkerSchemas } from '@gantry/sdk';
import type { FakeRequest, FakeResponse } from './fake-accounts';

type Usage = WorkerSchemas['Usage'];

export interface FakeUsage {
  /** By month; a missing month had no runs. */
  months: Map<string, Usage>;
}

export const createUsageState = (): FakeUsage => ({ months: new Map() });

export const buildEmptyUsage = (month: string): Usage => ({
  month,
  days: [],
  workers: [],
  total: { runs: 0, failed: 0, compute_ms: 0, cost_usd: 0 },
  others: { workers: 0, runs: 0, failed: 0, compute_ms: 0, cost_usd: 0 },
});

/** Returns undefined for requests of another resource. */
export function handleUsageRequest(fake: FakeUsage, { line, query, signedIn }: FakeRequest): FakeResponse | undefined {
  if (line !== 'GET /api/usage') return undefined;
  if (!signedIn) return { status: 401, body: { detail: 'sign in' } };
  const month = query.get('month') ?? '';
  return { status: 200, body: fake.months.get(month) ?? buildEmptyUsage(month) };
}
