/** Sweeps: ended rehearsals whose event was lost, candidates that stand still, and old candidates. */
import { SYSTEM } from '@gantry/http';
import { type Sql, transaction } from '@gantry/postgres';
import type { Pool } from 'pg';
import type { Deps } from '../deps';
import { OPEN_STATUSES } from './candidate';
import { findCandidate, listStanding, listUnnoticed } from './candidate-repository';
import { abandon, dropIn } from './decide-candidate';
import { advance, noticeEnd } from './rehearse-cases';

const AT_ONCE = 100;

/** Any number of replicas may do it at any time. */
export async function goOnWithCandidates(deps: Deps): Promise<void> {
  const { pool, log } = deps;
  for (const runId of await listUnnoticed(pool, AT_ONCE)) {
    await noticeEnd(deps, runId).catch((err) => log.error({ err, runId }, 'the end of a rehearsal: will try again'));
  }
  for (const id of await listStanding(pool, AT_ONCE)) {
    await advance(deps, id).catch((err) =>
      log.error({ err, candidate: id }, 'a candidate stands still: will try again'),
    );
  }
}

const UNDECIDED = "interval '30 days'";
const KEPT = "interval '90 days'";

/** Those that nobody decides are dropped, and reports of dropped ones are not kept for ever. */
export async function ageCandidates(deps: Deps): Promise<void> {
  const { pool, prisma, now } = deps;
  for (const { id, workerId } of await listForgotten(pool)) {
    const candidate = await findCandidate(pool, id);
    if (!candidate) continue;
    const nobody = { id: null, label: null, actor: SYSTEM };
    await transaction(prisma, (tx) => dropIn(tx, candidate, workerId, nobody, now()));
    await abandon(deps, candidate);
  }
  await pool.query(
    `DELETE FROM worker_candidates WHERE id IN (SELECT id FROM worker_candidates
       WHERE status = 'dropped' AND created_at < now() - ${KEPT} LIMIT 1000)`,
  );
}

/** Those of repairs are dropped with their approval. */
async function listForgotten(sql: Sql | Pool): Promise<{ id: string; workerId: string }[]> {
  const { rows } = await sql.query<{ id: string; workerId: string }>(
    `SELECT c.id, w.id AS "workerId" FROM worker_candidates c JOIN workers w ON w.uid = c.worker_uid
     WHERE c.status = ANY($1) AND c.repair_id IS NULL AND c.created_at < now() - ${UNDECIDED} LIMIT $2`,
    [OPEN_STATUSES, AT_ONCE],
  );
  return rows;
}
