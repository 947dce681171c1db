/**
 * Which connection serves each name that a worker declares.
 *
 * One of the whole workspace serves every worker. A private one serves the private workers of its owner alone: those
 * who may edit a worker decides what its code does with the account.
 */
import type { Sql } from '@gantry/postgres';
import type { OwnedResource } from '../access/ownership';
import type { Connection } from '../generated/prisma/client';

export type UsableConnection = Pick<
  Connection,
  'id' | 'kind' | 'app' | 'label' | 'status' | 'problem' | 'hosts' | 'visibility' | 'ownerId'
>;

/** A declared name that no connection serves, or one that does not work. */
export interface ConnectionProblem {
  name: string;
  connection: UsableConnection | null;
  /** The worker's owner has one, which is private and thus not for a worker of the workspace. */
  isWithheld?: boolean;
}

const SELECT_DECLARED_CONNECTIONS = `SELECT id, kind, app, label, status, problem, hosts, visibility, owner_id AS "ownerId" FROM connections
  WHERE workspace_id = $1 AND (app = ANY($2) OR id = ANY($2)) ORDER BY created_at, id`;

/** By each name that may mean them, oldest first. */
export type ConnectionsByName = Map<string, UsableConnection[]>;

export async function listConnectionsByName(
  sql: Sql,
  workspaceId: string,
  names: string[],
): Promise<ConnectionsByName> {
  if (!names.length) return new Map();
  const query = { name: 'connections-named', text: SELECT_DECLARED_CONNECTIONS, values: [workspaceId, names] };
  return groupByName((await sql.query<UsableConnection>(query)).rows);
}

/** Each stands under its id and its app. */
export function groupByName(connections: UsableConnection[]): ConnectionsByName {
  const groups: ConnectionsByName = new Map();
  for (const one of connections) {
    for (const name of [one.id, one.app]) {
      const group = groups.get(name);
      if (group) group.push(one);
      else groups.set(name, [one]);
    }
  }
  return groups;
}

const isUsableBy = (worker: OwnedResource, { visibility, ownerId }: UsableConnection): boolean =>
  visibility === 'workspace' || (worker.visibility === 'private' && ownerId !== null && ownerId === worker.ownerId);

/** A key without hosts may go nowhere. */
const isUsable = ({ status, kind, hosts }: UsableConnection): boolean =>
  status === 'active' && (kind === 'mcp' || hosts.length > 0);

/**
 * An id names one connection, an app whichever of its connections works: the owner's own before the workspace's, then
 * the oldest. Null: there is none.
 */
export function selectConnection(
  worker: OwnedResource,
  name: string,
  connections: ConnectionsByName,
): UsableConnection | null {
  const candidates = (connections.get(name) ?? []).filter((one) => isUsableBy(worker, one));
  const computeRank = (one: UsableConnection) => (isUsable(one) ? 0 : 2) + (one.visibility === 'private' ? 0 : 1);
  return candidates.sort((a, b) => computeRank(a) - computeRank(b))[0] ?? null;
}

export function listConnectionProblems(
  worker: OwnedResource,
  names: string[],
  connections: ConnectionsByName,
): ConnectionProblem[] {
  return names.flatMap((name) => {
    const connection = selectConnection(worker, name, connections);
    if (connection && isUsable(connection)) return [];
    const candidates = connections.get(name) ?? [];
    const isWithheld = candidates.some(({ ownerId }) => ownerId !== null && ownerId === worker.ownerId);
    return [{ name, connection, isWithheld }];
  });
}

/** Says what to connect. @param dashboardUrl where that is done */
export function formatConnectionProblems(problems: ConnectionProblem[], dashboardUrl: string): string {
  const said = problems.map(({ name, connection, isWithheld }) => {
    if (!connection && isWithheld) {
      return `"${name}" is a private connection that belongs to this worker's owner, but the worker belongs to the whole workspace: share the connection, or make the worker private`;
    }
    if (!connection) return `"${name}" is not connected, or not available to this worker`;
    const { label, status, problem } = connection;
    const why =
      status === 'active'
        ? 'it lists no host that its value can be sent to'
        : status === 'pending'
          ? 'consent has not been given yet'
          : (problem ?? `its status is ${status}`);
    return `"${name}" (${label}) does not work: ${why}`;
  });
  return `${said.join('; ')}. Set up connections at ${dashboardUrl}/connections, then run again.`;
}

const UPDATE_LAST_USED = `UPDATE connections SET last_used_at = $3 WHERE workspace_id = $1 AND id = ANY($2)
  AND (last_used_at IS NULL OR last_used_at < $3::timestamptz - interval '1 minute')`;

/** Notes their use, to the minute. */
export const updateConnectionsLastUsed = (sql: Sql, workspaceId: string, ids: string[], now: Date) =>
  sql.query(UPDATE_LAST_USED, [workspaceId, ids, now]);
