/** Rules of connections, and their API representation. */

import { forbidden, invalid } from '@gantry/errors';
import { createPermissionTable, toApiFields } from '@gantry/http';
import { hasRoleAtLeast, type Principal } from '@gantry/limits';
import { openapiFiles } from '@gantry/openapi';
import { canManage, isOwner, type OwnedResource } from '../access/ownership';
import { type DeclaringWorker, usedByToApi } from '../declarations/declaring-workers';
import type { Connection } from '../generated/prisma/client';
import type { McpServerKey } from './mcp-client-types';
import { parseAuthorization } from './mcp-server-authorization';

const permissionsFor = createPermissionTable(openapiFiles.worker, {
  edit: 'updateConnection',
  delete: 'deleteConnection',
  change_visibility: 'updateConnection',
});

/** Connections of the whole workspace are managed by admins, also those that members created. */
export const canManageConnection = (caller: Principal, connection: OwnedResource): boolean =>
  connection.visibility === 'workspace' ? hasRoleAtLeast(caller.role, 'admin') : canManage(caller, connection);

/** @throws AppError 403 */
export function assertCanManageConnection(caller: Principal, connection: OwnedResource): void {
  if (canManageConnection(caller, connection)) return;
  throw connection.visibility === 'workspace'
    ? forbidden('admin_needed', 'only admins can manage a workspace-wide connection')
    : forbidden('not_owner', 'only the owner of this connection or an admin can do this');
}

/** @throws AppError 403 for a member who shares one with the workspace */
export function requireAllowedVisibility(caller: Principal, visibility: OwnedResource['visibility']): void {
  if (visibility === 'private' || hasRoleAtLeast(caller.role, 'admin')) return;
  throw forbidden(
    'admin_needed',
    'only an admin can make a connection available to the whole workspace; make this connection private',
  );
}

/** A member who uses a credential in a worker can let its code read the value, so only the owner shares it. */
const canShare = (caller: Principal, connection: OwnedResource): boolean =>
  hasRoleAtLeast(caller.role, 'admin') && (connection.visibility === 'workspace' || isOwner(caller, connection));

/**
 * @param isReplaced the request brings another credential
 * @throws AppError 403 for a member who shares a connection, and an admin who shares a credential of another person
 */
export function requireVisibilityChange(
  caller: Principal,
  {
    connection,
    visibility,
    isReplaced,
  }: { connection: OwnedResource; visibility: OwnedResource['visibility']; isReplaced: boolean },
): void {
  requireAllowedVisibility(caller, visibility);
  if (visibility === 'private' || isReplaced || canShare(caller, connection)) return;
  throw forbidden(
    'not_owner',
    'only the owner can share a private connection’s credential; send a different credential with this request',
  );
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: a header with one of them would end early
const CONTROL_CHARACTERS = /[\x00-\x1f\x7f]/;

/** @throws AppError 400 */
export function requireNoControlCharacters(value: string, path: string): void {
  if (CONTROL_CHARACTERS.test(value))
    throw invalid([{ path, message: 'must not contain control characters or line breaks' }]);
}

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
/** Headers of the connection and of the protocol itself. */
const RESERVED_HEADERS =
  /^(host|connection|content-.*|transfer-encoding|expect|upgrade|te|trailer|keep-alive|cookie|accept|mcp-.*|proxy-.*)$/i;

/** @throws AppError 400 naming each header that cannot be sent */
export function requireValidHeaders(headers: Record<string, string>): void {
  const problems = Object.entries(headers).flatMap(([name, value]) => {
    const path = `headers.${name.slice(0, 100)}`;
    if (!HEADER_NAME.test(name)) return [{ path, message: 'is not a valid header name' }];
    if (RESERVED_HEADERS.test(name)) return [{ path, message: 'is set by the platform; remove it' }];
    if (/[^\t\x20-\x7e]/.test(value)) return [{ path, message: 'must contain only visible ASCII characters' }];
    return [];
  });
  if (problems.length) throw invalid(problems);
}

/** Derives the name that workers declare from a label: `Linear (EU)` is `linear-eu`. */
export function toAppSlug(label: string): string {
  const words = label.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return words.join('-').slice(0, 60) || 'mcp';
}

export interface ConnectionView {
  connection: Connection;
  caller: Principal;
  usedBy: DeclaringWorker[] | undefined;
}

/** Never its value. */
export function connectionToApi({ connection, caller, usedBy }: ConnectionView) {
  const permissions = permissionsFor(caller.role);
  const canChange = canManageConnection(caller, connection);
  return {
    ...toApiFields(connection, 'id', 'kind', 'app', 'label', 'visibility', 'ownerId', 'status', 'problem', 'scopes'),
    ...toApiFields(connection, 'accountLabel', 'hosts', 'places', 'parameters', 'authSecret', 'allowedTools'),
    ...toApiFields(connection, 'lastCheckedAt', 'lastUsedAt', 'createdAt', 'updatedAt'),
    url: toVisibleUrl(connection.url, canChange),
    issuer: parseAuthorization(connection)?.issuer ?? null,
    expires_at: connection.tokenExpiresAt?.toISOString() ?? null,
    used_by: usedByToApi(caller, usedBy),
    permissions: {
      edit: permissions.edit && canChange,
      delete: permissions.delete && canChange,
      change_visibility: permissions.change_visibility && canShare(caller, connection),
    },
  };
}

/** Path and query of a server's address may be its only secret. */
const toVisibleUrl = (url: string | null, canChange: boolean): string | null =>
  url === null || canChange ? url : `${new URL(url).origin}/…`;

export const statusToApi = (connection: Connection) => ({
  ...toApiFields(connection, 'id', 'status', 'problem', 'scopes', 'accountLabel', 'lastCheckedAt'),
  expires_at: connection.tokenExpiresAt?.toISOString() ?? null,
});

/** By which the tools of an MCP server are remembered. Another token of the same server makes it no other server. */
export const toServerKey = ({ id, workspaceId, version, authorization }: Connection): McpServerKey => ({
  workspaceId,
  connectionId: id,
  version: authorization === null ? version : 1,
});
