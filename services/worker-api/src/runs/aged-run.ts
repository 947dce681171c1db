import { AppError, notFound } from '@gantry/http';
import { madeAt, readRetention, retentionOf } from '@gantry/run-engine';
import type { RunDeps } from './run-deps';

const DAY_MS = 86_400_000;

/** Builds the error for a missing run whose id shows that its retention is over; otherwise returns null. */
export async function agedRun(
  { pool, retention: bounds, now }: Pick<RunDeps, 'pool' | 'retention' | 'now'>,
  workspaceId: string,
  runId: string,
): Promise<AppError | null> {
  const made = madeAt(runId);
  const { runDays } = retentionOf(await readRetention(pool, workspaceId), bounds);
  if (!made || now().getTime() - made.getTime() < runDays * DAY_MS) return null;
  const { kind, code, detail } = notFound('run', runId);
  return new AppError(kind, code, `${detail}; runs are deleted, with their inputs, ${runDays} days after they end`);
}
