/** Sweeps: ended rehearsals whose event was lost, candidates that stand still, and old candidates. */
import { SYSTEM } from '@gantry/http';
import { type Sql, transaction } from '@gantry/postgres';
import { findWorkerHead } from '../workers/worker-queries';
import { OPEN_STATUSES } from './candidate';
import type { CandidateDeps } from './candidate-deps';
import { findCandidate, listRehearsalsWithMissedEnd, listResumableCandidates } from './candidate-repository';
import { cancelRehearsals, dropInTransaction } from './decide-candidate';
import { advanceCandidate, handleRehearsalEnd } from './rehearse-cases';

const BATCH_SIZE = 100;

/** Any number of replicas may do it at any time. */
export async function resumeCandidates(deps: CandidateDeps): Promise<void> {
  const { pool, log } = deps;
  for (const runId of await listRehearsalsWithMissedEnd(pool, BATCH_SIZE)) {
    await handleRehearsalEnd(deps, runId).catch((err) =>
      log.error({ err, runId }, 'the end of a rehearsal: will try again'),
    );
  }
  for (const id of await listResumableCandidates(pool, BATCH_SIZE)) {
    await advanceCandidate(deps, id).catch((err) =>
      log.error({ err, candidate: id }, 'a candidate stands still: will try again'),
    );
  }
}

const UNDECIDED = "interval '30 days'";
const KEPT = "interval '90 days'";

/** Drops undecided candidates after a while, and deletes old reports of dropped ones. */
export async function sweepOldCandidates(deps: CandidateDeps): Promise<void> {
  const { pool, prisma, now } = deps;
  for (const id of await listOldUndecided(pool)) {
    const candidate = await findCandidate(pool, id);
    const worker = candidate && (await findWorkerHead(pool, candidate.workspaceId, { uid: candidate.workerUid }));
    if (!worker) continue;
    const platform = { id: null, label: null, actor: SYSTEM };
    await transaction(prisma, (tx) => dropInTransaction(tx, candidate, worker.id, platform, now()));
    await cancelRehearsals(deps, candidate);
  }
  await pool.query(
    `DELETE FROM worker_candidates WHERE id IN (SELECT id FROM worker_candidates
       WHERE status = 'dropped' AND created_at < now() - ${KEPT} LIMIT 1000)`,
  );
}

/** Those of repairs are dropped with their approval. */
async function listOldUndecided(sql: Sql): Promise<string[]> {
  const { rows } = await sql.query<{ id: string }>(
    `SELECT id FROM worker_candidates
     WHERE status = ANY($1) AND repair_id IS NULL AND created_at < now() - ${UNDECIDED} LIMIT $2`,
    [OPEN_STATUSES, BATCH_SIZE],
  );
  return rows.map(({ id }) => id);
}
