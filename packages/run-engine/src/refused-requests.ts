/** A run whose request was refused by a rule is announced once, however many more it makes. */
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

/** In the transaction that marks the run: it is called once for each run, for the first that was reported. */
export type OnRefused = (tx: PoolClient, refused: RefusedRequest) => Promise<void>;

type Refused = Pick<RefusedRequest, 'host' | 'port' | 'reason'>;

/** Tests have no network, so that each of their requests is refused: nobody is told of them. */
const MARK = `
  UPDATE runs SET request_refused_at = now()
  WHERE id = ANY ($1) AND kind = 'run' AND request_refused_at IS NULL
  RETURNING id AS "runId", workspace_id AS "workspaceId", subject_id AS "subjectId", subject_ref AS "subjectRef", traceparent`;

/** Batches may come again: whoever marked the run has announced it. */
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

/** A jsonb column refuses NUL and halves of a surrogate pair. */
const plain = (text: string): string => Buffer.from(text).toString().replaceAll('\0', '\ufffd');
