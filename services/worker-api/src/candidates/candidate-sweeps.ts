/** Sweeps: cases whose rehearsal has ended, candidates that could begin another one, and old candidates. */
import { deleteOldRows, listIds, type Sql } from '@gantry/postgres';
import { OPEN_STATUSES } from './candidate';
import type { CandidateDeps } from './candidate-deps';
import { listEndedCases, listResumableCandidates } from './candidate-repository';
import { dropForPlatform } from './decide-candidate';
import { advanceCandidate, CONCURRENT_REHEARSALS_MAX, settleEndedCase } from './rehearse-cases';

const BATCH_SIZE = 100;

/** Settles ended cases and starts waiting ones, until it is aborted. Any number of replicas may do it at any time. */
export async function resumeCandidates(deps: CandidateDeps, signal: AbortSignal): Promise<void> {
  const { pool, log } = deps;
  for (const ended of await listEndedCases(pool, BATCH_SIZE)) {
    if (signal.aborted) return;
    const { candidateId, number, runId } = ended;
    await settleEndedCase(deps, ended).catch((err) =>
      log.error({ err, candidateId, number, runId }, 'could not settle a case; will try again'),
    );
  }
  const bounds = { concurrency: CONCURRENT_REHEARSALS_MAX, limit: BATCH_SIZE };
  for (const id of await listResumableCandidates(pool, bounds)) {
    if (signal.aborted) return;
    await advanceCandidate(deps, id).catch((err) =>
      log.error({ err, candidateId: id }, 'could not advance a candidate; will try again'),
    );
  }
}

const UNDECIDED_TTL = "interval '30 days'";
const RETENTION = "interval '90 days'";

/** Drops undecided candidates after a while, and deletes old reports of dropped ones. */
export async function sweepOldCandidates(deps: CandidateDeps): Promise<void> {
  const { pool } = deps;
  for (const id of await listOldUndecided(pool)) await dropForPlatform(deps, id);
  await deleteOldRows(pool, 'worker_candidates', `status = 'dropped' AND created_at < now() - ${RETENTION}`);
}

/** Those of repairs are dropped with their approval. */
const listOldUndecided = (sql: Sql): Promise<string[]> =>
  listIds(
    sql,
    `SELECT id FROM worker_candidates
     WHERE status = ANY($1) AND repair_id IS NULL AND created_at < now() - ${UNDECIDED_TTL} LIMIT $2`,
    [OPEN_STATUSES, BATCH_SIZE],
  );
