import { parseOpaqueToken } from '@gantry/auth';
import { AppError, notFound } from '@gantry/errors';
import { newId } from '@gantry/events';
import { buildLinkActor, created, noContent, type Operations, ok, respondWith, respondWithPage } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import type { AccountDeps } from '../account-deps';
import { findClientHost } from '../grants/client-id';
import { grantToApi } from '../grants/grant';
import { deleteToken, listGrants, lockToken } from '../grants/grant-repository';
import { buildResourceMetadata, buildServerMetadata } from '../grants/oauth-metadata';
import { getUserId } from '../identity/caller-user';
import { decideAuthorization, inspectAuthorizationRequest } from './authorization';
import { revokeGrant } from './end-grant';
import { exchangeAuthorizationCode, exchangeRefreshToken } from './issue-tokens';
import { parseClientMetadata, REGISTERED_CLIENT_ID_PREFIX } from './oauth-client';
import { evictUngrantedClients, insertClient } from './oauth-client-repository';
import { describeRedirect } from './redirect-uri';

/** Headers of a public document, which may be cached for five minutes. */
const PUBLIC_CACHE_HEADERS = { 'Cache-Control': 'public, max-age=300' };

export function createOauthOperations(deps: AccountDeps): Operations<'worker'> {
  const { prisma, pool, hasher, identities, baseUrl, dashboardUrl, now } = deps;
  const getServerMetadata = () => ok(buildServerMetadata(baseUrl, dashboardUrl), PUBLIC_CACHE_HEADERS);
  const getResourceMetadata = () => ok(buildResourceMetadata(baseUrl), PUBLIC_CACHE_HEADERS);
  return {
    oauthServerMetadata: getServerMetadata,
    oauthServerMetadataOfMcp: getServerMetadata,
    oauthResourceMetadata: getResourceMetadata,
    oauthResourceMetadataOfMcp: getResourceMetadata,
    registerOauthClient: async ({ body }) => {
      const facts = parseClientMetadata(body);
      const client = await transaction(prisma, async (tx) => {
        await evictUngrantedClients(tx);
        return insertClient(tx, newId(REGISTERED_CLIENT_ID_PREFIX), facts);
      });
      return created({
        client_id: client.id,
        client_id_issued_at: Math.floor(client.createdAt.getTime() / 1_000),
        ...(client.name !== null && { client_name: client.name }),
        ...(client.uri !== null && { client_uri: client.uri }),
        redirect_uris: client.redirectUris,
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        scope: 'mcp',
      });
    },
    issueOauthToken: async ({ body, req }) => {
      const { grant_type, ...tokenRequest } = body;
      const actor = buildLinkActor(req, 'oauth_client');
      if (grant_type === 'authorization_code') return ok(await exchangeAuthorizationCode(deps, tokenRequest, actor));
      if (grant_type === 'refresh_token') return ok(await exchangeRefreshToken(deps, tokenRequest, actor));
      throw new AppError(
        'invalid',
        'unsupported_grant_type',
        'grant_type: must be authorization_code or refresh_token',
      );
    },
    revokeOauthToken: async ({ body: { token, client_id }, req }) => {
      const prefix = parseOpaqueToken(token)?.prefix;
      if (prefix !== 'oat_' && prefix !== 'ort_') return respondWith(200, undefined);
      const hashes = hasher.candidates(token);
      const ended = await transaction(pool, async (tx) => {
        const row = await lockToken(tx, hashes);
        if (row?.client_id !== client_id) return null;
        if (row.kind === 'access') await deleteToken(tx, hashes);
        else await revokeGrant(tx, { id: row.grant_id, userId: null }, 'client', buildLinkActor(req, 'oauth_client'));
        return row.grant_id;
      });
      if (ended) identities.evictToken(ended);
      return respondWith(200, undefined);
    },
    lookUpAuthorization: async (call) => {
      const { client, readonly, refused } = await inspectAuthorizationRequest(deps, call, call.body);
      const { host: redirectHost, opens } = describeRedirect(call.body.redirect_uri);
      const host = findClientHost(client.id);
      const known_by = host === null ? 'registration' : 'document';
      return ok({
        client: { name: client.name, host, uri: client.uri, known_by },
        redirect_host: redirectHost,
        opens,
        readonly,
        refused,
      });
    },
    decideAuthorization: async (call) => ok({ redirect_to: await decideAuthorization(deps, call, call.body) }),
    listOauthGrants: async (call) =>
      respondWithPage(call, await listGrants(prisma, getUserId(call.caller), now()), grantToApi),
    revokeOauthGrant: async ({ caller, actor, path }) => {
      const of = { id: path.grant_id, userId: getUserId(caller) };
      const ended = await transaction(pool, (tx) => revokeGrant(tx, of, 'person', actor));
      if (!ended) throw notFound('connected app', path.grant_id, 'among yours');
      identities.evictToken(ended.id);
      return noContent();
    },
  };
}
