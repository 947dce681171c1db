/** Sets the retention of a workspace's runs; the services that have runs apply it. */

import { invalid } from '@gantry/errors';
import { enqueue, retentionChanged } from '@gantry/events';
import { type Actor, type OperationCall, toApiFields } from '@gantry/http';
import type { Sql } from '@gantry/postgres';
import {
  type ChangedRetention,
  listChangedRetention,
  loadRetention,
  type Retention,
  type RetentionBounds,
  type RetentionSettings,
  resolveRetention,
  writeRetention,
} from '@gantry/run-engine';
import type { Pool, PoolClient } from 'pg';
import { recordChange } from '../../audit/audit-entry';

/** Fields of a request; null: the operator's default. */
type RetentionChange = NonNullable<OperationCall<'worker', 'updateWorkspace'>['body']['retention']>;

const retentionToApi = (retention: Retention) => toApiFields(retention, 'runDays', 'logDays', 'runsKept');

export async function getRetention(sql: Sql, workspaceId: string, bounds: RetentionBounds) {
  const settings = await loadRetention(sql, workspaceId);
  return { ...retentionToApi(resolveRetention(settings, bounds)), maximums: retentionToApi(bounds.maximums) };
}

/** Requires that the caller's transaction holds the workspace's row. @throws AppError 400 */
export async function updateRetention(
  tx: PoolClient,
  options: { workspaceId: string; actor: Actor; change: RetentionChange; bounds: RetentionBounds },
): Promise<void> {
  const { workspaceId, actor, change, bounds } = options;
  const maximums = retentionToApi(bounds.maximums);
  const problems = (Object.keys(maximums) as (keyof RetentionChange)[]).flatMap((key) =>
    (change[key] ?? 0) > maximums[key]
      ? [{ path: `retention.${key}`, message: `must not be more than ${maximums[key]} on this installation` }]
      : [],
  );
  if (problems.length) throw invalid(problems);
  const { runDays, logDays, runsKept } = await loadRetention(tx, workspaceId);
  const settings: RetentionSettings = {
    runDays: change.run_days === undefined ? runDays : change.run_days,
    logDays: change.log_days === undefined ? logDays : change.log_days,
    runsKept: change.runs_kept === undefined ? runsKept : change.runs_kept,
  };
  const changed = { workspaceId, ...settings, changedAt: new Date() };
  await writeRetention(tx, changed);
  await enqueueRetention(tx, changed);
  await recordChange(tx, actor, 'workspace.retention_changed', { workspaceId, id: workspaceId }, { ...change });
}

/** Announces settings again, for a service whose event JetStream lost: nothing else would inform it. */
export async function republishRetention(pool: Pool): Promise<void> {
  for (const changed of await listChangedRetention(pool)) await enqueueRetention(pool, changed);
}

const enqueueRetention = (sql: Sql, { changedAt, ...setting }: ChangedRetention) =>
  enqueue(sql, retentionChanged, setting.workspaceId, { ...setting, changedAt: changedAt.getTime() });
