/** Publishes once per run that a rule refused one of its requests. */
import type { RunEvent, RunEventBatch } from '@gantry/events';
import { transaction } from '@gantry/postgres';
import type { Pool, PoolClient } from 'pg';

export interface RefusedRequest {
  runId: string;
  workspaceId: string;
  subjectId: string;
  subjectRef: string | null;
  traceparent: string | null;
  /** As the code wrote it, masked. */
  host: string;
  port: number;
  /** The rule, as a clause about the host. */
  reason: string;
}

/** Called in the transaction that marks the run, once per run, for the first reported request. */
export type OnRefused = (tx: PoolClient, refused: RefusedRequest) => Promise<void>;

type Refused = Pick<RefusedRequest, 'host' | 'port' | 'reason'>;

/** Excludes tests, which have no network, so that all their requests are refused. */
const MARK = `
  UPDATE runs SET request_refused_at = now()
  WHERE id = ANY ($1) AND kind = 'run' AND request_refused_at IS NULL
  RETURNING id AS "runId", workspace_id AS "workspaceId", subject_id AS "subjectId", subject_ref AS "subjectRef", traceparent`;

/** Handles redelivered batches: marking the run and publishing commit together. */
export async function announceRefused(pool: Pool, batches: RunEventBatch[], onRefused: OnRefused): Promise<void> {
  const refused = new Map<string, Refused>();
  for (const { runId, events } of batches) {
    const first = events.map(refusedOf).find(Boolean);
    if (first && !refused.has(runId)) refused.set(runId, first);
  }
  if (!refused.size) return;
  await transaction(pool, async (tx) => {
    const { rows } = await tx.query<Omit<RefusedRequest, keyof Refused>>(MARK, [[...refused.keys()]]);
    for (const run of rows) await onRefused(tx, { ...run, ...(refused.get(run.runId) as Refused) });
  });
}

function refusedOf(event: RunEvent): Refused | undefined {
  if (event.type !== 'request' || event.problem?.kind !== 'refused') return undefined;
  return { host: plain(event.host), port: event.port, reason: plain(event.problem.message) };
}

/** Replaces NUL and unpaired surrogates, which jsonb refuses. */
const plain = (text: string): string => Buffer.from(text).toString().replaceAll('\0', '\ufffd');
