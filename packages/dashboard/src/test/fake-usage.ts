import type { WorkerSchemas } from '@gantry/sdk';
import type { FakeAnswer, FakeRequest } from './fake-accounts';

type Usage = WorkerSchemas['Usage'];

export interface FakeUsage {
  /** By month; a missing month had no runs. */
  months: Map<string, Usage>;
}

export const newUsage = (): FakeUsage => ({ months: new Map() });

export const nothingUsed = (month: string): Usage => ({
  ...{ month, days: [], workers: [] },
  total: { runs: 0, failed: 0, compute_ms: 0, cost_usd: 0 },
  others: { workers: 0, runs: 0, failed: 0, compute_ms: 0, cost_usd: 0 },
});

/** Returns undefined for requests of another resource. */
export function answerUsage(fake: FakeUsage, { line, query, signedIn }: FakeRequest): FakeAnswer | undefined {
  if (line !== 'GET /api/usage') return undefined;
  if (!signedIn) return { status: 401, body: { detail: 'sign in' } };
  const month = query.get('month') ?? '';
  return { status: 200, body: fake.months.get(month) ?? nothingUsed(month) };
}
