/**
 * The credentials that a run gets of the connections its worker declares: a placeholder for its code, and for the
 * egress proxy the value behind it with the hosts that it may go to. A run whose connections are missing or broken gets
 * none.
 */
import { CREDENTIAL_CHARS_MAX, hostPattern, type JobCredential, newPlaceholder, type RunError } from '@gantry/events';
import type { Run } from '@gantry/run-engine';
import { filterPlaces } from '@gantry/vault';
import { findWorkerOwner } from '../declarations/worker-owner';
import type { Connection } from '../generated/prisma/client';
import type { ConnectionDeps } from './connection-deps';
import { findConnections } from './connection-repository';
import { openCredentialOrNull } from './credential';
import { isRefreshDue, refreshOrTimeOut } from './refresh';
import {
  type ConnectionProblem,
  formatConnectionProblems,
  listConnectionProblems,
  listConnectionsByName,
  selectConnection,
  updateConnectionsLastUsed,
} from './usable-connections';

/** An executor waits for the job meanwhile. */
const REFRESH_WAIT_MS = 2_000;

interface DeclaredConnection {
  name: string;
  connection: Connection;
}

export type ConnectionCredentials = (
  deps: ConnectionDeps,
  run: Run,
) => Promise<{ refused: RunError } | { credentials: JobCredential[] }>;

/** Runs that start at once wait for one refresh of a connection together. */
export function createConnectionCredentials(): ConnectionCredentials {
  const pendingRefreshes = new Map<string, Promise<void>>();

  function refreshIfNeeded(deps: ConnectionDeps, connection: Connection): Promise<void> {
    const { id } = connection;
    const present = pendingRefreshes.get(id);
    if (present) return present;
    const started = refreshOrTimeOut(deps, connection, REFRESH_WAIT_MS).finally(() => pendingRefreshes.delete(id));
    pendingRefreshes.set(id, started);
    return started;
  }

  return async (deps, run) => {
    const names = run.spec.connections ?? [];
    if (!names.length) return { credentials: [] };
    const isOffline = hasOnlyPlaceholders(run);
    let { declared, problems } = await loadRunConnections(deps, run, names);
    const due = isOffline ? [] : declared.filter(({ connection }) => isRefreshDue(connection, deps.now()));
    if (!problems.length && due.length) {
      await Promise.all(due.map(({ connection }) => refreshIfNeeded(deps, connection)));
      // Deleted, shared or refused meanwhile: as they are now.
      ({ declared, problems } = await loadRunConnections(deps, run, names));
    }
    const sendable = declared.filter(({ connection }) => connection.kind !== 'mcp');
    const results = problems.length ? [] : await Promise.all(sendable.map((one) => loadCredential(deps, run, one)));
    const all = [...problems, ...results.filter((one) => 'connection' in one)];
    if (all.length) {
      return { refused: { code: 'missing_connection', message: formatConnectionProblems(all, deps.dashboardUrl) } };
    }
    const used = [...new Set(declared.map(({ connection }) => connection.id))];
    await updateConnectionsLastUsed(deps.pool, run.workspaceId, used, deps.now());
    return { credentials: results.filter((one) => 'placeholder' in one) };
  };
}

async function loadRunConnections(
  { pool, prisma }: ConnectionDeps,
  run: Run,
  names: string[],
): Promise<{ declared: DeclaredConnection[]; problems: ConnectionProblem[] }> {
  const { workspaceId } = run;
  const [worker, named] = await Promise.all([
    findWorkerOwner(pool, run),
    listConnectionsByName(pool, workspaceId, names),
  ]);
  // Deleted meanwhile: its runs are cancelled.
  if (!worker) return { declared: [], problems: [] };
  const problems = listConnectionProblems(worker, names, named);
  if (problems.length) return { declared: [], problems };
  const chosen = names.map((name) => ({ name, id: selectConnection(worker, name, named)?.id ?? '' }));
  const rows = await findConnections(prisma, workspaceId, [...new Set(chosen.map(({ id }) => id))]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const declared = chosen.flatMap(({ name, id }) => {
    const connection = byId.get(id);
    return connection ? [{ name, connection }] : [];
  });
  const unavailable = chosen.filter(({ id }) => !byId.has(id)).map(({ name }) => ({ name, connection: null }));
  return { declared, problems: unavailable };
}

/** A test of a draft, or a rehearsal of unreviewed code: its placeholders stand for nothing but themselves. */
const hasOnlyPlaceholders = ({ kind, spec }: Run): boolean =>
  kind === 'test' && (!spec.rehearsal || spec.rehearsal.isUnread === true);

async function loadCredential(
  deps: ConnectionDeps,
  run: Run,
  { name, connection }: DeclaredConnection,
): Promise<JobCredential | ConnectionProblem> {
  const { spec } = run;
  const isOffline = hasOnlyPlaceholders(run);
  const toBrokenConnectionProblem = (problem: string) => ({
    name,
    connection: { ...connection, status: 'error' as const, problem },
  });
  const { accountLabel, scopes, tokenExpiresAt } = connection;
  const isExpired = !isOffline && tokenExpiresAt !== null && tokenExpiresAt <= deps.now();
  if (isExpired)
    return toBrokenConnectionProblem('its token has expired, and the provider has not issued a new one yet');
  const placeholder = newPlaceholder();
  const value = isOffline ? placeholder : await findStoredValue(deps, connection);
  if (value === null) return toBrokenConnectionProblem('the stored credential cannot be decrypted');
  if (value.length > CREDENTIAL_CHARS_MAX) {
    return toBrokenConnectionProblem(`the value has ${value.length} characters; the limit is ${CREDENTIAL_CHARS_MAX}`);
  }
  const hosts = connection.hosts.filter((host) => hostPattern.safeParse(host).success);
  if (!hosts.length) return toBrokenConnectionProblem('it lists no host that its value can be sent to');
  const first = hosts.find((host) => !host.startsWith('*.'));
  const baseUrl = first === undefined ? null : `https://${first}`;
  const exposed = spec.expose?.includes(name) === true;
  const places = filterPlaces(connection.places, spec.inBody?.includes(name) === true);
  return { kind: 'connection', places, exposed, name, placeholder, value, hosts, baseUrl, accountLabel, scopes };
}

/** The key, or the access token; null: what is stored is neither. */
async function findStoredValue(deps: ConnectionDeps, connection: Connection): Promise<string | null> {
  const credential = await openCredentialOrNull(deps, connection);
  if (!credential || credential.kind === 'mcp') return null;
  return credential.kind === 'oauth' ? credential.accessToken : credential.value;
}
