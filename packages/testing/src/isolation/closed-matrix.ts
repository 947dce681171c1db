/**
 * Requests of the matrix once the home workspace is deleted: every operation, with each credential that was good there,
 * and with none where none is needed. Nothing of the workspace is served, and nothing is changed.
 */
import type { Operation } from '@gantry/http';
import { listChangedTables, readDatabaseState } from './database-state';
import { buildPath, type FixtureRequest, type IsolatedSurface, sendWithRetry } from './matrix';

export interface ClosingSurface extends IsolatedSurface {
  /** Deletes the home workspace, and resolves when this surface knows of it. */
  closeHome(): Promise<void>;
  /** Headers of more credentials that are good in the home workspace, by what they are. */
  credentials: Record<string, Record<string, string>>;
}

/** Operations of an account, apart from any workspace: people keep them. */
const ACCOUNT_RESOURCES = new Set(['personalToken', 'session', 'member']);
/** Operations on the caller's own session. */
const SESSION_OPERATIONS = new Set(['refreshSession', 'signOut']);

const isAccountOperation = ({ access }: Operation) => access === 'account' || access === 'user';

/** A person who is signed in may still do what has nothing to do with the workspace. */
export const isTestedAfterClosure = (operation: Operation): boolean =>
  isAccountOperation(operation) ? operation.method === 'get' : !SESSION_OPERATIONS.has(operation.id);

function listCredentials(surface: ClosingSurface, { access }: Operation): [name: string, Record<string, string>][] {
  const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
  const home = Object.entries(surface.home).flatMap(([role, token]): [string, Record<string, string>][] => [
    [role, bearer(token)],
    [`${role} who names it`, { ...bearer(token), 'x-svc-workspace': surface.homeWorkspaceId }],
  ]);
  const needsNone = access === 'public' || access === 'optional';
  return [
    ...home,
    ...Object.entries(surface.credentials),
    ...(needsNone
      ? ([
          ['anonymous', {}],
          ['a stranger', bearer(surface.foreign.personal)],
        ] as [string, Record<string, string>][])
      : []),
  ];
}

/** @returns what went wrong, one sentence each */
export async function checkClosedWorkspace(surface: ClosingSurface, operation: Operation): Promise<string[]> {
  const fixture = surface.fixtures[operation.id];
  if (!fixture) return [`no fixture for ${operation.id}`];
  const sent = (fixture.opens ?? fixture.send)(surface.real);
  const namesSomething = JSON.stringify(sent) !== JSON.stringify((fixture.opens ?? fixture.send)(surface.unknown));
  // A probe, a search, a page of everybody: answered, about others.
  const isForAll = !namesSomething && ['public', 'optional', 'account', 'user'].includes(operation.access);
  const before = await readDatabaseState(surface.pool);
  const problems: string[] = [];
  for (const [name, headers] of listCredentials(surface, operation)) {
    const { status, text } = await sendWithRetry(
      surface.url,
      operation,
      surface.aliases(operation.path)[0] as string,
      sent,
      headers,
    );
    const where = `${operation.id} of a deleted workspace, asked by ${name}`;
    const isRefused = [401, 403, 404].includes(status) || (sent.query !== undefined && isEmptyList(text));
    if (!isRefused && !isForAll && !(fixture.doneAlready && status === 204)) {
      problems.push(`${where}: ${status} ${text.slice(0, 200)}`);
    }
    problems.push(...findLeakedIds(surface, operation, sent, text).map((what) => `${where}: tells ${what}`));
  }
  const changed = fixture.makes ? [] : listChangedTables(before, await readDatabaseState(surface.pool));
  if (changed.length) problems.push(`${operation.id} of a deleted workspace: changed ${changed.join(', ')}`);
  return problems;
}

/** Answer to a question about one of the caller's own things, of which there are none any more. */
const isEmptyList = (text: string) => /^(\[\]|\{"\w+":\[\][^[]*\})$/.test(text);

function findLeakedIds(surface: ClosingSurface, operation: Operation, request: FixtureRequest, text: string): string[] {
  const sentText = JSON.stringify(request) + buildPath(operation.path, request);
  return Object.entries({ ...surface.real, home: surface.homeWorkspaceId })
    .filter(([what]) => !(isAccountOperation(operation) && ACCOUNT_RESOURCES.has(what)))
    .filter(([, id]) => text.includes(id) && !sentText.includes(id))
    .map(([what, id]) => `the ${what} ${id}`);
}
