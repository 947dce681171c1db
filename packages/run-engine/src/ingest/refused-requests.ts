/** Publishes once per run that a rule refused one of its requests. */
import type { RunEvent, RunEventBatch } from '@gantry/events';
import { transaction } from '@gantry/postgres';
import type { Pool, PoolClient } from 'pg';
import type { Run } from '../run';

export interface RefusedRequest extends Pick<Run, 'workspaceId' | 'subjectId' | 'subjectRef' | 'traceparent'> {
  runId: string;
  /** As the code wrote it, masked. */
  host: string;
  port: number;
  /** The rule, as a clause about the host. */
  reason: string;
}

/** Called in the transaction that marks the run, once per run, for the first reported request. */
export type OnRefused = (tx: PoolClient, refused: RefusedRequest) => Promise<void>;

type RefusalDetails = Pick<RefusedRequest, 'host' | 'port' | 'reason'>;

/** Excludes tests, which have no network, so that all their requests are refused. */
const MARK_REFUSED = `
  UPDATE runs SET request_refused_at = now()
  WHERE id = ANY ($1) AND kind = 'run' AND request_refused_at IS NULL
  RETURNING id AS "runId", workspace_id AS "workspaceId", subject_id AS "subjectId", subject_ref AS "subjectRef", traceparent`;

/** Handles redelivered batches: marking the run and publishing commit together. */
export async function publishRefusedRequests(
  pool: Pool,
  batches: RunEventBatch[],
  onRefused: OnRefused,
): Promise<void> {
  const refused = new Map<string, RefusalDetails>();
  for (const { runId, events } of batches) {
    const first = events.map(findRefusal).find(Boolean);
    if (first && !refused.has(runId)) refused.set(runId, first);
  }
  if (!refused.size) return;
  await transaction(pool, async (tx) => {
    const { rows } = await tx.query<Omit<RefusedRequest, keyof RefusalDetails>>(MARK_REFUSED, [[...refused.keys()]]);
    for (const run of rows) await onRefused(tx, { ...run, ...(refused.get(run.runId) as RefusalDetails) });
  });
}

function findRefusal(event: RunEvent): RefusalDetails | undefined {
  if (event.type !== 'request' || event.problem?.kind !== 'refused') return undefined;
  return { host: sanitizeText(event.host), port: event.port, reason: sanitizeText(event.problem.message) };
}

/** Replaces NUL and unpaired surrogates, which jsonb refuses. */
const sanitizeText = (text: string): string => Buffer.from(text).toString().replaceAll('\0', '\ufffd');
