/**
 * The workers that declare a context, a secret or a connection. Their current versions count: what runs from now on
 * will need.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { conflict } from '@gantry/errors';
import type { Principal } from '@gantry/limits';
import type { Sql } from '@gantry/postgres';
import { canSeeWorker } from '../access/ownership';
import type { Worker } from '../generated/prisma/client';

export interface DeclaringWorker extends Pick<Worker, 'id' | 'name' | 'visibility' | 'ownerId'> {
  /** Its code gets the value itself. */
  isExposed: boolean;
}

const SELECT_DECLARING_WORKERS = `SELECT w.id, w.name, w.visibility, w.owner_id AS "ownerId", v.definition -> $2 AS declared,
    CASE WHEN $2 <> 'contexts' THEN v.definition -> 'expose' END AS exposed
  FROM workers w
  JOIN worker_versions v ON v.worker_uid = w.uid AND v.number = w.current_version
  WHERE w.workspace_id = $1 AND w.deleted_at IS NULL AND json_array_length(v.definition -> $2) > 0
  ORDER BY w.created_at, w.uid`;

type DeclaringRow = Omit<DeclaringWorker, 'isExposed'> & { declared: string[]; exposed: string[] | null };

/** Names after which others have their turn: 10,000 workers may declare a million. */
const NAMES_PER_YIELD = 20_000;

/** By the name that they declare, oldest first. */
export async function listDeclaringWorkers(
  sql: Sql,
  workspaceId: string,
  resourceKind: 'contexts' | 'secrets' | 'connections',
): Promise<Map<string, DeclaringWorker[]>> {
  const { rows } = await sql.query<DeclaringRow>(SELECT_DECLARING_WORKERS, [workspaceId, resourceKind]);
  const byName = new Map<string, DeclaringWorker[]>();
  let namesLeft = NAMES_PER_YIELD;
  for (const { declared, exposed, ...worker } of rows) {
    const hidden: DeclaringWorker = { ...worker, isExposed: false };
    const shown: DeclaringWorker = { ...worker, isExposed: true };
    const exposedNames = new Set(exposed);
    for (const name of declared) {
      const one = exposedNames.has(name) ? shown : hidden;
      const before = byName.get(name);
      if (before) before.push(one);
      else byName.set(name, [one]);
    }
    namesLeft -= declared.length;
    if (namesLeft > 0) continue;
    namesLeft = NAMES_PER_YIELD;
    await nextTurn();
  }
  return byName;
}

/** Whether the principal may know of any. */
export const isDeclaredByVisibleWorker = (principal: Principal, workers: DeclaringWorker[] = []): boolean =>
  workers.some((worker) => canSeeWorker(principal, worker));

/** Those that the principal may know of. */
export const usedByToApi = (principal: Principal, workers: DeclaringWorker[] = []) =>
  workers
    .filter((worker) => canSeeWorker(principal, worker))
    .map(({ id, name, isExposed }) => ({ id, name, ...(isExposed && { exposed: true }) }));

const LISTED_WORKERS_MAX = 10;

/** @param resourceKind `context "prices"` @throws AppError 409 `in_use` naming them, and counting those that are hidden */
export function requireUnusedResource(
  principal: Principal,
  resourceKind: string,
  workers: DeclaringWorker[] = [],
): void {
  if (!workers.length) return;
  const ids = usedByToApi(principal, workers).map(({ id }) => id);
  const others = workers.length - Math.min(ids.length, LISTED_WORKERS_MAX);
  const named = [...ids.slice(0, LISTED_WORKERS_MAX), ...(others ? [`${others} more`] : [])].join(', ');
  throw conflict('in_use', `the ${resourceKind} is used by workers: ${named}; add ?force=true to delete it anyway`);
}
