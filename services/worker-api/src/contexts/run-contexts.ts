/** The contexts declared by a worker, when it is edited and when it runs. */

import { conflict, invalid } from '@gantry/errors';
import type { Principal } from '@gantry/limits';
import type { Sql } from '@gantry/postgres';
import type { RunSpec } from '@gantry/run-engine';
import { buildVisibilityFilter } from '../access/ownership';
import type { Db } from '../database';
import { listDeclaringWorkers } from '../declarations/declaring-workers';

type RunContext = NonNullable<RunSpec['contexts']>[number];

const SELECT_CURRENT_VERSIONS = `SELECT c.name, v.pack_digest AS digest, v.pack_key AS key, v.pack_size AS size, c.writeable
  FROM contexts c JOIN context_versions v ON v.context_uid = c.uid AND v.number = c.current_version
  WHERE c.workspace_id = $1 AND c.name = ANY($2)`;

/**
 * For a new run: the current versions, in the order of `names`. Permission to use them was checked when the worker
 * declared them.
 * @param options.onlyWorkers ids of those that the token that asks is for: a context that others read, too, is not
 * writeable; null: any
 * @param options.canChange false: none is writeable
 * @throws AppError 409 `missing_context` naming those deleted since
 */
export async function listRunContexts(
  sql: Sql,
  workspaceId: string,
  names: string[],
  { onlyWorkers = null, canChange = true }: { onlyWorkers?: string[] | null | undefined; canChange?: boolean } = {},
): Promise<RunContext[]> {
  const { rows } = await sql.query<RunContext>(SELECT_CURRENT_VERSIONS, [workspaceId, names]);
  const found = new Map(rows.map((context) => [context.name, context]));
  const missing = names.filter((name) => !found.has(name));
  if (missing.length) {
    throw conflict('missing_context', `the worker needs contexts that do not exist: ${missing.join(', ')}`);
  }
  const contexts = names.flatMap((name) => found.get(name) ?? []);
  if (!canChange) return contexts.map((context) => ({ ...context, writeable: false }));
  if (!onlyWorkers || !contexts.some(({ writeable }) => writeable)) return contexts;
  const declaring = await listDeclaringWorkers(sql, workspaceId, 'contexts');
  const ids = new Set(onlyWorkers);
  const isDeclaredElsewhere = (name: string) => declaring.get(name)?.some(({ id }) => !ids.has(id)) === true;
  return contexts.map((context) => ({
    ...context,
    writeable: context.writeable && !isDeclaredElsewhere(context.name),
  }));
}

/**
 * @param declared contexts that the worker declares already: they were permitted then
 * @throws AppError 400 naming each that does not exist, or is another user's private one and would be newly declared
 */
export async function requireUsableContexts(
  db: Db,
  principal: Principal,
  names: string[],
  declared: string[] = [],
): Promise<void> {
  // Bounded: 50 contexts in each definition (NAMES_MAX).
  const asked = names.filter((name) => !declared.includes(name));
  if (!asked.length) return;
  const rows = await db.context.findMany({
    where: { workspaceId: principal.workspaceId, name: { in: asked }, ...buildVisibilityFilter(principal) },
    select: { name: true },
  });
  const usable = new Set([...declared, ...rows.map(({ name }) => name)]);
  const problems = names.flatMap((name, index) =>
    usable.has(name) ? [] : [{ path: `contexts.${index}`, message: `there is no context "${name}"` }],
  );
  if (problems.length) throw invalid(problems, 'missing_context');
}
