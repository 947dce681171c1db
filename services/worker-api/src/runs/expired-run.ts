import { AppError, notFound } from '@gantry/errors';
import { loadRetention, parseCreatedAt, resolveRetention } from '@gantry/run-engine';
import type { RunDeps } from './run-deps';

const DAY_MS = 86_400_000;

/** Builds the error for a missing run whose id shows that its retention is over; otherwise returns null. */
export async function findExpiredRunError(
  { pool, retention: bounds, now }: Pick<RunDeps, 'pool' | 'retention' | 'now'>,
  workspaceId: string,
  runId: string,
): Promise<AppError | null> {
  const createdAt = parseCreatedAt(runId);
  const { runDays } = resolveRetention(await loadRetention(pool, workspaceId), bounds);
  if (!createdAt || now().getTime() - createdAt.getTime() < runDays * DAY_MS) return null;
  const { kind, code, detail } = notFound('run', runId);
  return new AppError(kind, code, `${detail}; runs and their inputs are deleted ${runDays} days after the runs end`);
}
