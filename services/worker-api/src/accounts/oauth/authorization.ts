/**
 * The authorization endpoint, which is a page of the dashboard: it shows who asks, and a person decides.
 *
 * A problem of the client or its redirect address is shown and never sent on, because an address that is not the
 * client's belongs to another party. Anything else that is wrong goes back to the client (RFC 6749, 4.1.2.1).
 */
import { createOpaqueToken } from '@gantry/auth';
import { AppError, conflict, invalid } from '@gantry/errors';
import { newId } from '@gantry/events';
import type { OperationCall, Requester } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import { recordChange } from '../../audit/audit-entry';
import type { OauthClient } from '../../generated/prisma/client';
import type { AccountDeps } from '../account-deps';
import { findClientHost } from '../grants/client-id';
import { GRANT_ID_PREFIX, toGrantRestriction } from '../grants/grant';
import { countGrants, insertGrant } from '../grants/grant-repository';
import { buildMcpResourceUrl, isMcpResource, SCOPES } from '../grants/oauth-metadata';
import { getSignedInUserId } from '../identity/caller-user';
import { getClient } from './get-client';
import { markClientGranted } from './oauth-client-repository';
import { addQueryParameters, isRegisteredRedirect, isWebOrAppUri } from './redirect-uri';

export type AuthorizationRequest = OperationCall<'worker', 'lookUpAuthorization'>['body'];
type AuthorizationDecision = OperationCall<'worker', 'decideAuthorization'>['body'];

const CODE_TTL_SECONDS = 120;
const DAY_MS = 86_400_000;
const GRANTS_MAX = 200;
/** Base64url of a SHA-256. */
const CODE_CHALLENGE_PATTERN = /^[A-Za-z0-9_-]{43}$/;

/** @throws AppError 400 `unknown_client`, `redirect_mismatch`; 403 for a token */
export async function inspectAuthorizationRequest(
  deps: AccountDeps,
  { caller }: Pick<Requester, 'caller'>,
  request: AuthorizationRequest,
) {
  getSignedInUserId(caller);
  const client = await getClient(deps, request.client_id);
  if (!isRegisteredRedirect(client.redirectUris, request.redirect_uri) || !isWebOrAppUri(request.redirect_uri)) {
    throw new AppError('invalid', 'redirect_mismatch', 'redirect_uri: is not registered for this client');
  }
  const problem = findRequestError(deps.baseUrl, request);
  const scopes = request.scope?.split(' ') ?? [];
  return {
    client,
    /** It asks for reading alone. */
    readonly: scopes.includes('mcp:read') && !scopes.includes('mcp'),
    /** The browser's next address for a request that cannot be allowed. */
    refused: problem && buildErrorRedirect(deps.baseUrl, request, problem),
  };
}

interface OauthErrorResponse {
  error: string;
  error_description: string;
}

function findRequestError(baseUrl: string, request: AuthorizationRequest): OauthErrorResponse | null {
  const { response_type, code_challenge, code_challenge_method, resource, scope } = request;
  const toOauthError = (error: string, error_description: string) => ({ error, error_description });
  if (!response_type) return toOauthError('invalid_request', 'response_type is required');
  if (response_type !== 'code') return toOauthError('unsupported_response_type', 'response_type must be code');
  if (!code_challenge) return toOauthError('invalid_request', 'code_challenge is required');
  if (code_challenge_method !== 'S256') return toOauthError('invalid_request', 'code_challenge_method must be S256');
  if (!CODE_CHALLENGE_PATTERN.test(code_challenge))
    return toOauthError('invalid_request', 'code_challenge must be a base64url-encoded SHA-256 hash');
  if (resource !== undefined && !isMcpResource(baseUrl, resource)) {
    return toOauthError('invalid_target', `resource must be ${buildMcpResourceUrl(baseUrl)}`);
  }
  const requestedScopes = scope?.split(' ').filter((one) => one !== '') ?? [];
  // Unknown scopes are left out, as long as one is known.
  if (requestedScopes.length && !requestedScopes.some((one) => SCOPES.some((knownScope) => knownScope === one))) {
    return toOauthError('invalid_scope', `scope must be one of ${SCOPES.join(', ')}`);
  }
  return null;
}

const buildErrorRedirect = (
  baseUrl: string,
  { redirect_uri, state }: AuthorizationRequest,
  problem: OauthErrorResponse,
): string => addQueryParameters(redirect_uri, { ...problem, state, iss: baseUrl });

/** @returns where the browser goes. @throws AppError as inspectAuthorizationRequest; 400, 409 */
export async function decideAuthorization(
  deps: AccountDeps,
  requester: Requester,
  decision: AuthorizationDecision,
): Promise<string> {
  const { request } = decision;
  const { client, readonly, refused } = await inspectAuthorizationRequest(deps, requester, request);
  if (refused) return refused;
  if (decision.decision === 'deny') {
    const denied = { error: 'access_denied', error_description: 'the user denied access' };
    return buildErrorRedirect(deps.baseUrl, request, denied);
  }
  if (!decision.toolsets) throw invalid([{ path: 'toolsets', message: 'is required to allow access' }]);
  const allowed = { ...decision, toolsets: decision.toolsets, readonly: decision.readonly || readonly };
  const code = await createGrant(deps, requester, client, allowed);
  return addQueryParameters(request.redirect_uri, { code, state: request.state, iss: deps.baseUrl });
}

/** Row, code and audit entry commit together. @returns the code, which is not stored */
async function createGrant(
  { prisma, hasher, baseUrl, now }: AccountDeps,
  { caller, actor }: Requester,
  client: OauthClient,
  { request, toolsets, readonly, days }: AuthorizationDecision & { toolsets: string[]; readonly: boolean },
): Promise<string> {
  const { workspaceId } = caller;
  const userId = getSignedInUserId(caller);
  const code = createOpaqueToken('oac_');
  const id = newId(GRANT_ID_PREFIX);
  const at = now();
  await transaction(prisma, async (tx) => {
    if ((await countGrants(tx, userId, at)) >= GRANTS_MAX) {
      throw conflict('too_many_grants', `${GRANTS_MAX} apps are already connected; disconnect some first`);
    }
    await insertGrant(
      tx,
      {
        id,
        userId,
        workspaceId,
        clientId: client.id,
        clientName: client.name,
        resource: buildMcpResourceUrl(baseUrl),
        restriction: toGrantRestriction(toolsets, readonly),
        expiresAt: new Date(at.getTime() + (days ?? 90) * DAY_MS),
      },
      {
        grantId: id,
        hash: hasher.hash(code).hash,
        redirectUri: request.redirect_uri,
        codeChallenge: request.code_challenge ?? '',
        expiresAt: new Date(at.getTime() + CODE_TTL_SECONDS * 1_000),
      },
    );
    await markClientGranted(tx, client.id, at);
    const details = { client: client.name, host: findClientHost(client.id), toolsets, readonly };
    await recordChange(tx, actor, 'oauth_grant.created', { workspaceId, id }, details);
  });
  return code;
}
