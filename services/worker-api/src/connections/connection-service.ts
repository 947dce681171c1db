/** Changes of connections by people: row, audit entry and, where tokens end, their revocation commit together. */

import { AppError, conflict, forbidden, invalid, notFound } from '@gantry/errors';
import { newId } from '@gantry/events';
import type { OperationCall, Requester } from '@gantry/http';
import { hasRoleAtLeast } from '@gantry/limits';
import { transaction } from '@gantry/postgres';
import { findOwnerId } from '../access/ownership';
import { recordChange } from '../audit/audit-entry';
import type { Db } from '../database';
import { listDeclaringWorkers, requireUnusedResource } from '../declarations/declaring-workers';
import { type Connection, Prisma } from '../generated/prisma/client';
import { findModelService } from '../integrations/catalog/model-services';
import { parseHosts } from '../integrations/custom-provider';
import { findIntegration } from '../integrations/integrations';
import {
  assertCanManageConnection,
  requireAllowedVisibility,
  requireNoControlCharacters,
  requireValidHeaders,
  requireVisibilityChange,
  toAppSlug,
  toServerKey,
} from './connection';
import type { ConnectionDeps } from './connection-deps';
import {
  countConnections,
  deleteConnection,
  getConnection,
  insertConnection,
  lockConnection,
  updateConnection,
} from './connection-repository';
import { openCredential, sealCredential } from './credential';
import { parseOutboundUrl } from './hosts';
import { fillTemplate, parseParameters } from './request-template';
import { enqueueRevocation } from './revocations';

const CONNECTIONS_MAX = 500;

type NewKeyConnection = OperationCall<'worker', 'createConnection'>['body'];
type NewMcpConnection = OperationCall<'worker', 'createMcpConnection'>['body'];
type ConnectionChange = OperationCall<'worker', 'updateConnection'>['body'];

export async function insertConnectionWithAudit(
  db: Db,
  { actor, markCreated }: Pick<Requester, 'actor' | 'markCreated'>,
  connection: Prisma.ConnectionUncheckedCreateInput,
): Promise<Connection> {
  const { workspaceId } = connection;
  if ((await countConnections(db, workspaceId)) >= CONNECTIONS_MAX) {
    throw conflict(
      'too_many_connections',
      `a workspace can have at most ${CONNECTIONS_MAX} connections; delete some first`,
    );
  }
  const inserted = await insertConnection(db, connection);
  await recordChange(db, actor, 'connection.created', { workspaceId, id: inserted.id }, toAuditDetails(inserted));
  await markCreated(db, inserted.id);
  return inserted;
}

/** @throws AppError 400 for a key that cannot be sent in a header, 403 for a member who shares it */
export async function createKeyConnection(
  deps: ConnectionDeps,
  requester: Requester,
  body: NewKeyConnection,
): Promise<Connection> {
  const { caller } = requester;
  const { workspaceId } = caller;
  const { app, value, label, visibility = 'private' } = body;
  if (value === undefined) throw invalid([{ path: 'value', message: 'is required for an API key' }]);
  if (body.scopes?.length)
    throw invalid([{ path: 'scopes', message: 'must be omitted for an API key, whose scopes can’t be changed' }]);
  requireNoControlCharacters(value, 'value');
  requireAllowedVisibility(caller, visibility);
  const integration = await findIntegration(deps, workspaceId, app);
  const parameters = integration ? parseParameters(integration.provider, body.parameters ?? {}) : {};
  const hosts = body.hosts
    ? parseHosts(body.hosts)
    : (integration?.provider.hosts.map((host) => fillTemplate(host, parameters)) ?? listModelHosts(app));
  const id = newId('con_');
  const sealed = await sealCredential(deps.vault, { id, workspaceId, version: 1, hosts }, { kind: 'api_key', value });
  return transaction(deps.prisma, (tx) =>
    insertConnectionWithAudit(tx, requester, {
      id,
      workspaceId,
      kind: 'api_key',
      app,
      visibility,
      sealed,
      hosts,
      parameters,
      status: 'active',
      ...(body.places && { places: body.places }),
      label: label ?? integration?.provider.name ?? findModelService(app)?.name ?? app,
      ownerId: findOwnerId(caller),
    }),
  );
}

const listModelHosts = (app: string): string[] => {
  const service = findModelService(app);
  return service ? [new URL(service.baseUrl).host] : [];
};

/** @throws AppError 400 for an address that may not be reached, 403 for a member who names a secret or shares it */
export async function createMcpConnection(
  deps: ConnectionDeps,
  requester: Requester,
  body: NewMcpConnection,
): Promise<Connection> {
  const { caller } = requester;
  const { workspaceId } = caller;
  const { label, headers = {}, visibility = 'private' } = body;
  const url = parseOutboundUrl(body.url, deps.outboundAllow);
  requireValidHeaders(headers);
  requireAllowedVisibility(caller, visibility);
  const authSecret = body.auth_secret ?? null;
  requireUsableSecret(requester, authSecret, headers);
  const id = newId('con_');
  const hosts = [new URL(url).host];
  const sealed = await sealCredential(deps.vault, { id, workspaceId, version: 1, hosts }, { kind: 'mcp', headers });
  return transaction(deps.prisma, (tx) =>
    insertConnectionWithAudit(tx, requester, {
      id,
      workspaceId,
      kind: 'mcp',
      label,
      visibility,
      sealed,
      url,
      authSecret,
      status: 'active',
      app: body.app ?? toAppSlug(label),
      hosts,
      ownerId: findOwnerId(caller),
      allowedTools: body.allowed_tools ?? Prisma.DbNull,
    }),
  );
}

/** A secret's value goes where the address says: admins, who set secrets, decide that. */
function requireUsableSecret(
  { caller }: Pick<Requester, 'caller'>,
  name: string | null,
  headers: Record<string, string>,
) {
  if (name === null) return;
  if (!hasRoleAtLeast(caller.role, 'admin')) {
    throw forbidden('admin_needed', 'only an admin can allow a workspace secret to be sent to an MCP server');
  }
  if (Object.keys(headers).some((header) => header.toLowerCase() === 'authorization')) {
    throw invalid([{ path: 'auth_secret', message: 'conflicts with the Authorization header; send only one of them' }]);
  }
}

/** @throws AppError 400 for a field that is not this kind's, 403, 404 */
export async function editConnection(
  deps: ConnectionDeps,
  { caller, actor }: Requester,
  id: string,
  input: ConnectionChange,
): Promise<Connection> {
  const { workspaceId } = caller;
  const before = await getConnection(deps.prisma, workspaceId, caller, id);
  assertCanManageConnection(caller, before);
  requireFieldsOfKind(before, input);
  const plain = buildUnsealedColumns(deps, input);
  requireAllowedVisibilityChange(caller, before, input);
  const hosts = plain.hosts ?? before.hosts;
  const change = { ...plain, ...(await buildSealedColumns(deps, caller, { before, hosts }, input)) };
  // The person who allows tools has seen them as they are now.
  if (input.allowed_tools !== undefined) await deps.mcpClient.acceptTools(toServerKey(before));
  return transaction(deps.prisma, async (tx) => {
    const present = await lockConnection(tx, workspaceId, caller, id);
    assertCanManageConnection(caller, present);
    requireAllowedVisibilityChange(caller, present, input);
    if (change.sealed && present.version !== before.version) {
      throw conflict('changed_meanwhile', 'another person has just changed this connection; reload it and try again');
    }
    const changed = await updateConnection(tx, workspaceId, id, change);
    const details = { ...toAuditDetails(changed), fields: Object.keys(input) };
    await recordChange(tx, actor, 'connection.updated', { workspaceId, id }, details);
    return changed;
  });
}

function requireAllowedVisibilityChange(
  caller: Requester['caller'],
  connection: Connection,
  input: ConnectionChange,
): void {
  const { visibility, value, headers } = input;
  if (visibility === undefined) return;
  requireVisibilityChange(caller, { connection, visibility, isReplaced: (value ?? headers) !== undefined });
}

const FIELDS_BY_KIND: Record<Connection['kind'], string[]> = {
  oauth: ['label', 'visibility', 'places'],
  api_key: ['label', 'visibility', 'value', 'hosts', 'places'],
  mcp: ['label', 'visibility', 'url', 'headers', 'auth_secret', 'allowed_tools'],
};

/** Another address is another server, with tokens of its own. */
const AUTHORIZED_SERVER_FIELDS = ['label', 'visibility', 'allowed_tools'];

function requireFieldsOfKind({ kind, authorization }: Connection, input: ConnectionChange): void {
  const fields = authorization === null ? FIELDS_BY_KIND[kind] : AUTHORIZED_SERVER_FIELDS;
  // Bounded: fields of the OpenAPI document, and six at most in FIELDS.
  const disallowedFields = Object.keys(input).filter((field) => !fields.includes(field));
  if (!disallowedFields.length) return;
  const which = authorization === null ? `of kind ${kind}` : 'to a server that requires sign-in';
  const message = `is not a field of a connection ${which}; the fields are ${fields.join(', ')}`;
  throw invalid(disallowedFields.map((path) => ({ path, message })));
}

/**
 * @throws AppError 400; hosts come with the value that may go there, so that no admin sends elsewhere what they cannot
 * read
 */
function buildUnsealedColumns({ outboundAllow }: ConnectionDeps, input: ConnectionChange) {
  const { label, visibility, hosts, places, url, auth_secret: authSecret, allowed_tools: allowedTools } = input;
  if (hosts !== undefined && input.value === undefined) {
    throw invalid([{ path: 'value', message: 'is required; hosts can be changed only together with the value' }]);
  }
  const address = url === undefined ? undefined : parseOutboundUrl(url, outboundAllow);
  return {
    ...(label !== undefined && { label }),
    ...(visibility !== undefined && { visibility }),
    ...(hosts !== undefined && { hosts: parseHosts(hosts) }),
    ...(places !== undefined && { places }),
    ...(address !== undefined && { url: address, hosts: [new URL(address).host] }),
    ...(authSecret !== undefined && { authSecret }),
    ...(allowedTools !== undefined && { allowedTools: allowedTools ?? Prisma.DbNull }),
  };
}

/** A new key, or headers; another address gets none of the headers that were meant for the old one. */
async function buildSealedColumns(
  { vault }: ConnectionDeps,
  caller: Requester['caller'],
  { before, hosts }: { before: Connection; hosts: string[] },
  { value, headers, url, auth_secret: secret }: ConnectionChange,
): Promise<Prisma.ConnectionUncheckedUpdateInput> {
  const version = before.version + 1;
  const known = { status: 'active' as const, problem: null, version };
  const holder = { ...before, version, hosts };
  if (value !== undefined) {
    requireNoControlCharacters(value, 'value');
    return { ...known, sealed: await sealCredential(vault, holder, { kind: 'api_key', value }) };
  }
  const hasNewUrl = url !== undefined && url !== before.url;
  if (before.kind !== 'mcp' || (headers === undefined && !hasNewUrl && secret === undefined)) return {};
  const present = await openCredential(vault, before);
  const kept = !hasNewUrl && present?.kind === 'mcp' ? present.headers : {};
  const after = headers ?? kept;
  requireValidHeaders(after);
  requireUsableSecret({ caller }, secret === undefined ? (hasNewUrl ? before.authSecret : null) : secret, after);
  return { ...known, sealed: await sealCredential(vault, holder, { kind: 'mcp', headers: after }) };
}

/** @throws AppError 409 `in_use` unless `force`; 403, 404 */
export async function removeConnection(
  deps: ConnectionDeps,
  { caller, actor }: Requester,
  id: string,
  force: boolean,
): Promise<void> {
  const { prisma, pool, vault } = deps;
  const { workspaceId } = caller;
  const connection = await getConnection(prisma, workspaceId, caller, id);
  assertCanManageConnection(caller, connection);
  if (!force) {
    const declaring = await listDeclaringWorkers(pool, workspaceId, 'connections');
    const others = await prisma.connection.count({ where: { workspaceId, app: connection.app, NOT: { id } } });
    const workers = [...(declaring.get(id) ?? []), ...(others ? [] : (declaring.get(connection.app) ?? []))];
    requireUnusedResource(caller, `connection "${connection.label}"`, workers);
    await requireNoModels(deps, connection);
  }
  // A value that no longer decrypts can be deleted all the same.
  const credential = await openCredential(vault, connection).catch((err) => {
    if (err instanceof AppError) throw err;
    deps.log.warn({ err, connectionId: id }, 'could not decrypt the tokens of a deleted connection; not revoking them');
    return null;
  });
  const revocation = await enqueueRevocation(deps, connection, credential);
  await transaction(prisma, async (tx) => {
    if (!(await deleteConnection(tx, workspaceId, id))) throw notFound('connection', id);
    await revocation(tx);
    await recordChange(tx, actor, 'connection.deleted', { workspaceId, id }, toAuditDetails(connection));
  });
  await deps.mcpClient.forgetTools(toServerKey(connection));
}

/** @throws AppError 409 `in_use` */
async function requireNoModels(
  { prisma, listProvidersWithKey }: ConnectionDeps,
  { workspaceId, id, label }: Connection,
): Promise<void> {
  const names = await listProvidersWithKey(prisma, workspaceId, id);
  if (!names.length) return;
  throw conflict(
    'in_use',
    `connection "${label}" is used by the model providers ${names.join(', ')}; delete them first, or send force=true`,
  );
}

export const toAuditDetails = ({ kind, app, label, visibility, scopes }: Connection) => ({
  kind,
  app,
  label,
  visibility,
  ...(scopes.length && { scopes }),
});
