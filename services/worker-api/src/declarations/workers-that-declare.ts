/** The workers that declare a context, a secret or a connection. Their current versions count: what runs from now on will need. */

import { conflict, type Principal } from '@gantry/http';
import type { Sql } from '@gantry/postgres';
import type { Worker } from '../generated/prisma/client';
import { canSeeWorker } from '../ownership';

export interface DeclaringWorker extends Pick<Worker, 'id' | 'name' | 'visibility' | 'ownerId'> {
  /** Its code gets the value itself. */
  isExposed: boolean;
}

const DECLARING = `SELECT declared.name AS declared, w.id, w.name, w.visibility, w.owner_id AS "ownerId",
    $2 <> 'contexts' AND coalesce((v.definition -> 'expose')::jsonb ? declared.name, false) AS "isExposed"
  FROM workers w
  JOIN worker_versions v ON v.worker_uid = w.uid AND v.number = w.current_version
  CROSS JOIN LATERAL json_array_elements_text(v.definition -> $2) AS declared (name)
  WHERE w.workspace_id = $1 AND w.deleted_at IS NULL
  ORDER BY w.created_at, w.uid`;

/** By the name that they declare, oldest first. */
export async function workersThatDeclare(
  sql: Sql,
  workspaceId: string,
  what: 'contexts' | 'secrets' | 'connections',
): Promise<Map<string, DeclaringWorker[]>> {
  const { rows } = await sql.query<DeclaringWorker & { declared: string }>(DECLARING, [workspaceId, what]);
  const byName = new Map<string, DeclaringWorker[]>();
  for (const { declared, ...worker } of rows) byName.set(declared, [...(byName.get(declared) ?? []), worker]);
  return byName;
}

/** Those that the principal may know of. */
export const usedByToApi = (principal: Principal, workers: DeclaringWorker[] = []) =>
  workers
    .filter((worker) => canSeeWorker(principal, worker))
    .map(({ id, name, isExposed }) => ({ id, name, ...(isExposed && { exposed: true }) }));

const NAMED_MAX = 10;

/** @param what `context "prices"` @throws AppError 409 `in_use` naming them, and counting those that are hidden */
export function requireUnused(principal: Principal, what: string, workers: DeclaringWorker[] = []): void {
  if (!workers.length) return;
  const ids = usedByToApi(principal, workers).map(({ id }) => id);
  const others = workers.length - Math.min(ids.length, NAMED_MAX);
  const named = [...ids.slice(0, NAMED_MAX), ...(others ? [`${others} more`] : [])].join(', ');
  throw conflict('in_use', `the ${what} is used by workers (${named}); add ?force=true to delete it all the same`);
}
