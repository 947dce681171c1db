/**
 * Consent to an OAuth connection: leaving for the provider, and coming back.
 *
 * State is single-use and belongs to the person who left: no person can finish what another began, nor have another's
 * account connected in their own workspace. What comes back is stored only if the connection is still the one that was
 * left.
 */

import { conflict, forbidden, invalid } from '@gantry/errors';
import { addChangeHint, newId } from '@gantry/events';
import type { Actor, OperationCall, Requester } from '@gantry/http';
import type { Principal } from '@gantry/limits';
import { transaction } from '@gantry/postgres';
import { recordChange } from '../audit/audit-entry';
import { type Connection, type ConnectionDeparture, Prisma } from '../generated/prisma/client';
import { assertCanManageConnection, requireAllowedVisibility, toAppSlug } from './connection';
import type { AuthorizationDeps, ConnectionDeps } from './connection-deps';
import { getConnection, updateConnectionAtVersion } from './connection-repository';
import { insertConnectionWithAudit, toAuditDetails } from './connection-service';
import { type OauthGrantCredential, sealCredential } from './credential';
import { parseOutboundUrl } from './hosts';
import {
  discoverAuthorizationServer,
  isClientReusable,
  parseAuthorization,
  type ServerAuthorization,
  toServerOauthConfig,
} from './mcp-server-authorization';
import {
  type AuthorizationRedirect,
  buildAuthorizationRedirect,
  ENDPOINTS_CHANGED_MESSAGE,
  exchangeCode,
  fetchAccountLabel,
  type OauthConfig,
  requireIssuer,
  type Tokens,
} from './oauth-client';
import { getParameters, resolveOauthConfig, selectRequestedScopes } from './oauth-config';
import { insertPendingAuthorization, type NewPendingAuthorization } from './pending-authorization-repository';
import { ProviderError, toProviderError } from './provider-fetch';
import { fillTemplate, parseParameters } from './request-template';
import { enqueueRevocation } from './revocations';
import { computeTokenExpiry } from './token-expiry';

type NewOauthConnection = OperationCall<'worker', 'createConnection'>['body'];
type NewMcpServerConnection = OperationCall<'worker', 'createMcpConnection'>['body'];

export interface StartedAuthorization {
  connection: Connection;
  authorizationUrl: string;
}

/**
 * A new connection, `pending` until its owner comes back.
 * @throws AppError 403, 404 for an unknown app, 409 without a client
 */
export async function startOauthConnection(
  deps: ConnectionDeps,
  requester: Requester,
  body: NewOauthConnection,
): Promise<StartedAuthorization> {
  const { caller } = requester;
  const { workspaceId } = caller;
  const { app, label, visibility = 'private' } = body;
  const userId = getPersonId(caller);
  requireAllowedVisibility(caller, visibility);
  if (body.hosts) throw invalid([{ path: 'hosts', message: "cannot be set; OAuth connections use the app's hosts" }]);
  const party = await resolveOauthConfig(deps, { workspaceId, app, parameters: {}, authorization: null });
  const parameters = parseParameters(party.provider, body.parameters ?? {});
  const scopes = selectRequestedScopes(party.provider, body.scopes);
  const redirect = await buildAuthorizationRedirect({ ...party, parameters }, scopes);
  const fields = {
    kind: 'oauth' as const,
    app,
    visibility,
    parameters,
    label: label ?? party.provider.name,
    hosts: party.provider.hosts.map((host) => fillTemplate(host, parameters)),
    ...(body.places && { places: body.places }),
  };
  return insertPendingConnection(deps, requester, fields, { ...redirect, userId, scopes, authorization: null });
}

/**
 * Registers an MCP server that people sign in to; `pending` until its owner comes back.
 * @throws AppError 400, 403; 409 `mcp_failed` with what is wrong with the server
 */
export async function startServerConnection(
  deps: AuthorizationDeps,
  requester: Requester,
  body: NewMcpServerConnection,
): Promise<StartedAuthorization> {
  const { caller } = requester;
  const { label, visibility = 'private' } = body;
  const userId = getPersonId(caller);
  requireAllowedVisibility(caller, visibility);
  const own = (['headers', 'auth_secret'] as const).filter((field) => body[field] != null);
  if (own.length)
    throw invalid(own.map((path) => ({ path, message: 'must be omitted for a server that requires sign-in' })));
  const server = parseOutboundUrl(body.url, deps.outboundAllow);
  const authorization = await discoverAuthorization(deps, server);
  const { scopes } = authorization;
  const redirect = await buildAuthorizationRedirect(toServerOauthConfig(deps, authorization), scopes);
  const fields = {
    kind: 'mcp' as const,
    label,
    visibility,
    url: server,
    authorization,
    app: body.app ?? toAppSlug(label),
    hosts: [new URL(server).host],
    allowedTools: body.allowed_tools ?? Prisma.DbNull,
  };
  return insertPendingConnection(deps, requester, fields, { ...redirect, userId, scopes, authorization });
}

/** The connection and the departure of its owner commit together. */
async function insertPendingConnection(
  deps: ConnectionDeps,
  requester: Requester,
  fields: Omit<Prisma.ConnectionUncheckedCreateInput, 'id' | 'workspaceId' | 'ownerId' | 'status'>,
  { url, ...departure }: AuthorizationRedirect & Omit<NewPendingAuthorization, 'connectionId'>,
): Promise<StartedAuthorization> {
  const id = newId('con_');
  const { workspaceId } = requester.caller;
  const row = { ...fields, id, workspaceId, ownerId: departure.userId, status: 'pending' as const };
  const connection = await transaction(deps.prisma, async (tx) => {
    const inserted = await insertConnectionWithAudit(tx, requester, row);
    await insertPendingAuthorization(tx, { ...departure, connectionId: id }, deps.now());
    return inserted;
  });
  return { connection, authorizationUrl: url };
}

/**
 * Consents again: to other scopes, or because the tokens have ended.
 * @throws AppError 400 for a key or a server, 403, 404, 409
 */
export async function reauthorizeConnection(
  deps: AuthorizationDeps,
  caller: Principal,
  id: string,
  requestedScopes: string[] | undefined,
): Promise<StartedAuthorization> {
  const userId = getPersonId(caller);
  const connection = await getConnection(deps.prisma, caller.workspaceId, caller, id);
  assertCanManageConnection(caller, connection);
  if (connection.kind !== 'oauth' && connection.authorization === null) {
    throw invalid([
      { path: 'connection_id', message: `connections of kind ${connection.kind} do not require consent` },
    ]);
  }
  const authorization = await loadRegisteredClient(deps, connection);
  const party = await resolveOauthConfig(deps, { ...connection, authorization });
  const present = connection.scopes.length ? connection.scopes : undefined;
  const scopes = selectRequestedScopes(party.provider, requestedScopes ?? present);
  const { url, ...pendingAuthorization } = await buildAuthorizationRedirect(party, scopes);
  const left: NewPendingAuthorization = { ...pendingAuthorization, connectionId: id, userId, scopes, authorization };
  await insertPendingAuthorization(deps.prisma, left, deps.now());
  return { connection, authorizationUrl: url };
}

/**
 * With a client that has the redirect address of its issuer; null: the server needs no sign-in.
 * @throws AppError 409 `mcp_failed`
 */
async function loadRegisteredClient(
  deps: AuthorizationDeps,
  connection: Connection,
): Promise<ServerAuthorization | null> {
  const present = parseAuthorization(connection);
  if (!present || isClientReusable(deps, present)) return present;
  const found = await discoverAuthorization(deps, connection.url ?? '');
  if (found.issuer === present.issuer) return found;
  throw conflict('mcp_failed', `sign-in: the server now uses issuer ${found.issuer}; create a new connection`);
}

const discoverAuthorization = (deps: AuthorizationDeps, server: string): Promise<ServerAuthorization> =>
  discoverAuthorizationServer(deps, server).catch((err) => {
    throw err instanceof ProviderError ? conflict('mcp_failed', `sign-in: ${err.message}`) : err;
  });

/** A workspace token is no person: any visitor could consent by its link. */
function getPersonId({ userId }: Principal): string {
  if (userId !== null) return userId;
  throw forbidden(
    'person_needed',
    'consent must be given by a person; use your own account or a personal token, not a workspace token',
  );
}

/** `redirectUri`: the address that the browser came to. */
export type CallbackParameters = OperationCall<'worker', 'finishConnection'>['query'] & { redirectUri: string };

/** The connection as it is now. @throws ProviderError in words for the person */
export async function completeAuthorization(
  deps: ConnectionDeps,
  actor: Actor,
  connection: Connection,
  pendingAuthorization: ConnectionDeparture,
  state: string,
  callback: CallbackParameters,
): Promise<Connection> {
  try {
    // As it was left: what was found out since, or by a departure of before an upgrade, is of no use to this code.
    if ((connection.authorization === null) !== (pendingAuthorization.authorization === null))
      throw new ProviderError(STALE_CONNECTION_MESSAGE, true);
    const oauthConfig = await resolveOauthConfig(deps, {
      ...connection,
      authorization: pendingAuthorization.authorization,
    });
    if (pendingAuthorization.addressDigest !== (oauthConfig.provider.addressDigest ?? null))
      throw new ProviderError(ENDPOINTS_CHANGED_MESSAGE, true);
    if (callback.redirectUri !== oauthConfig.redirectUri) {
      throw new ProviderError('the response was sent to the address of a different issuer', true);
    }
    requireIssuer(oauthConfig, callback.iss);
    const tokens = await exchangeTokens(oauthConfig, pendingAuthorization, state, callback);
    return await storeTokens(deps, actor, { connection, pendingAuthorization, oauthConfig, tokens });
  } catch (err) {
    const failure = toProviderError(err);
    await recordRefusal(deps, connection, failure.message);
    throw failure;
  }
}

function exchangeTokens(
  oauthConfig: OauthConfig,
  pendingAuthorization: ConnectionDeparture,
  state: string,
  callback: CallbackParameters,
): Promise<Tokens> {
  const { code, iss, error, error_description } = callback;
  if (error !== undefined) {
    throw toProviderError(Object.assign(new Error(error), { error, error_description }));
  }
  if (code === undefined) throw new ProviderError('the provider did not return a code', true);
  const { nonce, codeVerifier } = pendingAuthorization;
  return exchangeCode(oauthConfig, { code, iss }, { state, nonce, codeVerifier: codeVerifier ?? '' });
}

/** A connection that works goes on working when a person declines to widen it. */
async function recordRefusal(deps: ConnectionDeps, connection: Connection, problem: string): Promise<void> {
  if (connection.status === 'active') return;
  await transaction(deps.prisma, async (tx) => {
    const noted = await updateConnectionAtVersion(tx, connection, { problem });
    if (noted) addChangeHint(tx, connection.workspaceId, 'connections');
  });
}

const STALE_CONNECTION_MESSAGE = 'the connection was changed or deleted in the meantime; start again';

interface CompletedConsent {
  connection: Connection;
  pendingAuthorization: ConnectionDeparture;
  oauthConfig: OauthConfig;
  tokens: Tokens;
}

async function storeTokens(
  deps: ConnectionDeps,
  actor: Actor,
  { connection, pendingAuthorization, oauthConfig, tokens }: CompletedConsent,
): Promise<Connection> {
  const { vault, prisma } = deps;
  const { id, workspaceId, hosts } = connection;
  const grant: OauthGrantCredential = {
    kind: 'oauth',
    accessToken: tokens.accessToken,
    refreshToken: tokens.refreshToken,
    clientId: oauthConfig.client.id,
    addressDigest: oauthConfig.provider.addressDigest,
  };
  const parameters = { ...getParameters(connection), ...extractHostParameters(oauthConfig, tokens) };
  const account = await fetchAccountLabel({ ...oauthConfig, parameters }, grant, tokens.responseBody).catch((err) => {
    // Without the right scope a provider does not say; the tokens may be good for all the rest.
    deps.log.info({ err, connectionId: id }, 'the provider did not identify the account');
    return null;
  });
  const version = connection.version + 1;
  const sealed = await sealCredential(vault, { id, workspaceId, version, hosts }, grant);
  const now = deps.now();
  const known = connection.accountLabel;
  const isOtherAccount = known !== null && account !== null && known !== account;
  const { authorization } = pendingAuthorization;
  const revokeUnused = await enqueueRevocation(deps, { ...connection, authorization }, grant);
  const updatedConnection = await transaction(prisma, async (tx) => {
    const changed = isOtherAccount
      ? null
      : await updateConnectionAtVersion(tx, connection, {
          sealed,
          version,
          parameters,
          status: 'active',
          problem: null,
          refreshFailures: 0,
          leasedUntil: null,
          ...computeTokenExpiry(tokens, now),
          scopes: tokens.scopes ?? pendingAuthorization.scopes,
          lastCheckedAt: now,
          ...(account !== null && { accountLabel: account }),
          ...(pendingAuthorization.authorization !== null && { authorization: pendingAuthorization.authorization }),
        });
    if (!changed) await revokeUnused(tx);
    else {
      const details = { ...toAuditDetails(changed), account };
      await recordChange(tx, actor, 'connection.authorized', { workspaceId, id }, details);
    }
    return changed;
  });
  if (updatedConnection) return updatedConnection;
  throw new ProviderError(
    isOtherAccount
      ? `you signed in as ${account}, but this connection is for ${known}; create a new one for ${account}`
      : STALE_CONNECTION_MESSAGE,
    true,
  );
}

/** Parts of addresses that only the provider knows, such as the host of an organization. */
function extractHostParameters({ provider }: OauthConfig, { responseBody }: Tokens): Record<string, string> {
  return Object.fromEntries(
    Object.entries(provider.learn ?? {}).flatMap(([name, field]) => {
      const url = responseBody[field];
      const host = typeof url === 'string' && URL.canParse(url) ? new URL(url).host : '';
      // Bounded: both lists are the catalogue's.
      return provider.hosts.some((pattern) => matchesHost(pattern, host)) ? [[name, host]] : [];
    }),
  );
}

const matchesHost = (pattern: string, host: string): boolean =>
  pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern;
