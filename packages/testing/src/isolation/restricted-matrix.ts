/**
 * Requests of the matrix with restricted tokens of the home workspace's owner: one that may only read, and one for a
 * worker and an automation that are not those of the fixtures. Whatever an operation declares, the first changes
 * nothing, and the second is told nothing of the workspace and changes nothing either.
 */
import type { Operation } from '@gantry/http';
import { listChangedTables, readDatabaseState } from './database-state';
import { type IsolatedSurface, sendWithRetry } from './matrix';

/** A public operation gives an anonymous caller as much as any credential. */
export const isTestedWithRestrictedTokens = ({ access }: Operation): boolean => access !== 'public';

/** @returns what went wrong, one sentence each */
export async function checkRestrictedTokens(surface: IsolatedSurface, operation: Operation): Promise<string[]> {
  const fixture = surface.fixtures[operation.id];
  if (!fixture) return [`no fixture for ${operation.id}`];
  const sent = fixture.send(surface.real);
  const alias = surface.aliases(operation.path)[0] as string;
  const sendWithToken = (token: string): Promise<TestResponse> =>
    sendWithRetry(surface.url, operation, alias, sent, { Authorization: `Bearer ${token}` }).catch(toAbortedResponse);
  const problems: string[] = [];

  const before = await readDatabaseState(surface.pool);
  const reader = await sendWithToken(surface.restricted.readonly);
  const isRead = operation.method === 'get' || operation.restrict.effect === 'reads';
  if (!isRead && !isRefusal(reader, [403])) problems.push(`token that may only read: ${formatResponse(reader)}`);
  if (isRead && isRefusal(reader, [403]))
    problems.push(`token that may only read is refused: ${formatResponse(reader)}`);
  const read = listChangedTables(before, await readDatabaseState(surface.pool));
  if (read.length) problems.push(`token that may only read: changed ${read.join(', ')}`);
  // Its token is restricted alike: see credential-creation.ts.
  if (fixture.key === 'inherits') return problems;

  const other = await sendWithToken(surface.restricted.elsewhere);
  const isFailureAllowed = operation.restrict.things === 'none';
  if (other.status >= 400 && !isFailureAllowed && !isRefusal(other, [403, 404]))
    problems.push(`token for another worker: ${formatResponse(other)}`);
  if (!operation.restrict.things && !isRefusal(other, [403])) {
    problems.push(`token for another worker, of what declares nothing: ${formatResponse(other)}`);
  }
  const sentText = JSON.stringify(sent);
  for (const [what, id] of Object.entries(surface.real)) {
    const isKnown = id === surface.homeWorkspaceId || sentText.includes(id) || fixture.tells?.includes(what);
    if (!isKnown && other.text.includes(id)) problems.push(`token for another worker: is told the ${what} ${id}`);
  }
  const changed = listChangedTables(before, await readDatabaseState(surface.pool));
  if (changed.length) problems.push(`token for another worker: changed ${changed.join(', ')}`);
  return problems;
}

interface TestResponse {
  status: number;
  text: string;
}

/** Answer of a download whose object the fixture does not have: admitted, and ended in the middle. */
const toAbortedResponse = (): TestResponse => ({ status: 200, text: '' });

/** A refusal of a restriction says so: another 403 would prove nothing. */
const isRefusal = ({ status, text }: TestResponse, statuses: number[]): boolean =>
  statuses.includes(status) && (status !== 403 || text.includes('"restricted"'));

const formatResponse = ({ status, text }: TestResponse): string => `${status} ${text.slice(0, 200)}`;
