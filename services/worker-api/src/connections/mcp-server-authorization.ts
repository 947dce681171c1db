/**
 * Signing in to an MCP server: who gives its tokens out (RFC 9728, RFC 8414), and a client of ours there, by our client
 * metadata document or by dynamic registration (RFC 7591). Every address comes from strangers and is asked by
 * packages/safe-fetch.
 *
 * An issuer that names the endpoints of another one would receive the other's codes (RFC 9700, 4.4). So each issuer has
 * a redirect address and a client of its own, and its endpoints are on its own origin unless it promises to name itself
 * in every answer.
 */
import { createHash } from 'node:crypto';
import { checkOutboundUrl, OutboundError, type OutboundResponse } from '@gantry/safe-fetch';
import { z } from 'zod';
import type { Connection } from '../generated/prisma/client';
import type { Provider } from '../integrations/catalog/provider';
import { buildIssuerRedirectUri, buildRedirectUri } from '../integrations/integrations';
import type { AuthorizationDeps, ConnectionDeps } from './connection-deps';
import type { OauthConfig } from './oauth-client';
import { type OutboundOptions, ProviderError, parseBody, requestProvider } from './provider-fetch';
import { toPlainText } from './request-template';

const url = z.string().max(2_048);
const serverAuthorization = z.object({
  issuer: url,
  authorizeUrl: url,
  tokenUrl: url,
  revokeUrl: url.nullable(),
  /** Whom tokens are for (RFC 8707). */
  resource: url,
  scopes: z.array(z.string()),
  clientId: url,
  /** Absent: the client was registered before issuers had redirect addresses of their own. */
  redirectUri: url.optional(),
  /** It promises to name itself in every answer (RFC 9207). */
  sendsIssuer: z.boolean().default(false),
});

/** As the row of a connection has it; nothing of it is secret. */
export type ServerAuthorization = z.infer<typeof serverAuthorization>;

type ServerAuthorizationDeps = Pick<AuthorizationDeps, 'outboundAllow' | 'baseUrl' | 'dashboardUrl'>;

export const parseAuthorization = ({ authorization }: Pick<Connection, 'authorization'>): ServerAuthorization | null =>
  authorization === null ? null : serverAuthorization.parse(authorization);

/**
 * The document that our `client_id` leads to, where a server takes such documents.
 * @param digest of the issuer that it is for; absent: for connections from before issuers had documents of their own
 */
export const buildClientDocument = (deps: Pick<AuthorizationDeps, 'baseUrl' | 'dashboardUrl'>, digest?: string) => ({
  client_id: buildClientDocumentUrl(deps, digest),
  client_uri: deps.dashboardUrl,
  ...buildClientMetadata(digest === undefined ? buildRedirectUri(deps) : buildIssuerRedirectUri(deps, digest)),
});

const buildClientDocumentUrl = ({ baseUrl }: Pick<AuthorizationDeps, 'baseUrl'>, digest?: string) =>
  `${baseUrl}/.well-known/oauth-client${digest === undefined ? '' : `/${digest}`}`;

const computeIssuerDigest = (issuer: string): string => createHash('sha256').update(issuer).digest('base64url');

/** Whether its client may be used for another consent. */
export const isClientReusable = (
  deps: Pick<ConnectionDeps, 'dashboardUrl'>,
  { issuer, redirectUri }: ServerAuthorization,
): boolean => redirectUri === buildIssuerRedirectUri(deps, computeIssuerDigest(issuer));

const buildClientMetadata = (redirectUri: string) => ({
  client_name: 'Gantry',
  redirect_uris: [redirectUri],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
});

const SCOPES_MAX = 100;
const INITIALIZE_REQUEST = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'gantry', version: '1' } },
};

/** @throws ProviderError in words for the person */
export async function discoverAuthorizationServer(
  deps: ServerAuthorizationDeps,
  server: string,
): Promise<ServerAuthorization> {
  const outbound = { allow: deps.outboundAllow };
  const challenge = await requestChallenge(outbound, server);
  const resource = await fetchResourceMetadata(outbound, server, challenge.metadataUrl);
  const metadata = await fetchIssuerMetadata(outbound, resource.issuer);
  const resources = listTexts(metadata, 'protected_resources');
  if (resources.length && !resources.includes(resource.id)) {
    throw new ProviderError(`${resource.issuer} issues tokens only for other resources`, true);
  }
  // As it calls itself: a slash at the end counts when its answers are compared.
  const issuer = findText(metadata, 'issuer') ?? resource.issuer;
  const resolveEndpoint = (name: string, isRequired = true) =>
    findMetadataUrl(outbound, metadata, name, isRequired) ?? '';
  if (!listTexts(metadata, 'code_challenge_methods_supported').includes('S256')) {
    throw new ProviderError(`${issuer} does not support PKCE with S256`, true);
  }
  const methods = listTexts(metadata, 'token_endpoint_auth_methods_supported');
  if (methods.length && !methods.includes('none')) {
    throw new ProviderError(`${issuer} accepts only clients with a secret; use a token from the server instead`, true);
  }
  const authorizeUrl = resolveEndpoint('authorization_endpoint');
  const tokenUrl = resolveEndpoint('token_endpoint');
  const revokeUrl = resolveEndpoint('revocation_endpoint', false) || null;
  const registrationUrl = resolveEndpoint('registration_endpoint', false);
  const sendsIssuer = metadata.authorization_response_iss_parameter_supported === true;
  if (!sendsIssuer) requireSameOrigin(issuer, [authorizeUrl, tokenUrl, registrationUrl]);
  const digest = computeIssuerDigest(issuer);
  const clientId = await resolveClientId(deps, outbound, metadata, { registrationUrl, digest });
  const scopes = (challenge.scopes ?? resource.scopes).slice(0, SCOPES_MAX);
  const redirectUri = buildIssuerRedirectUri(deps, digest);
  return {
    issuer,
    authorizeUrl,
    tokenUrl,
    revokeUrl,
    scopes,
    clientId,
    redirectUri,
    sendsIssuer,
    resource: resource.id,
  };
}

/**
 * An answer that names its issuer cannot be mistaken for another's; without that, only the origin says whose an
 * endpoint is.
 */
function requireSameOrigin(issuer: string, endpoints: string[]): void {
  const { origin } = new URL(issuer);
  const other = endpoints.find((endpoint) => endpoint && new URL(endpoint).origin !== origin);
  if (other === undefined) return;
  throw new ProviderError(
    `${issuer} lists an endpoint on ${new URL(other).host} but does not identify itself in its responses (RFC 9207)`,
    true,
  );
}

const METADATA_URL = /resource_metadata="([^"]{1,2000})"/;
const SCOPE = /scope="([^"]{1,2000})"/;

async function requestChallenge(
  outbound: OutboundOptions,
  server: string,
): Promise<{ metadataUrl: string | null; scopes: string[] | null }> {
  const answer = await requestProvider(outbound, server, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
    body: JSON.stringify(INITIALIZE_REQUEST),
  });
  if (answer.status !== 401) {
    const said = answer.status < 300 ? 'allows anonymous access' : `responded with status ${answer.status}`;
    throw new ProviderError(`${new URL(server).host} ${said} and does not require sign-in`, true);
  }
  const said = String(answer.headers['www-authenticate'] ?? '');
  const scopes = SCOPE.exec(said)?.[1]?.split(' ').filter(Boolean) ?? null;
  return { metadataUrl: METADATA_URL.exec(said)?.[1] ?? null, scopes };
}

/** Servers of before RFC 9728 are their own authorization servers. */
async function fetchResourceMetadata(outbound: OutboundOptions, server: string, resourceUrl: string | null) {
  const { origin, pathname } = new URL(server);
  const wellKnown = `${origin}/.well-known/oauth-protected-resource`;
  const path = pathname === '/' ? '' : pathname;
  const found = await fetchFirstDocument(
    outbound,
    resourceUrl === null ? [`${wellKnown}${path}`, wellKnown] : [resourceUrl],
  );
  if (!found) {
    if (resourceUrl !== null) throw new ProviderError(`${new URL(server).host} points to missing metadata`, true);
    return { id: server, issuer: origin, scopes: [] };
  }
  const id = findText(found, 'resource') ?? server;
  if (!isWithinResource(server, id))
    throw new ProviderError(
      `the server's metadata describes a different resource: ${toPlainText(id).slice(0, 200)}`,
      true,
    );
  const [issuer] = listTexts(found, 'authorization_servers');
  if (issuer === undefined)
    throw new ProviderError("the server's metadata does not name an authorization server", true);
  return {
    id,
    issuer: parseMetadataUrl(outbound, issuer, 'authorization_servers'),
    scopes: listTexts(found, 'scopes_supported'),
  };
}

function isWithinResource(server: string, resource: string): boolean {
  if (!URL.canParse(resource)) return false;
  const [a, b] = [new URL(server), new URL(resource)];
  const below = b.pathname.endsWith('/') ? b.pathname : `${b.pathname}/`;
  return a.origin === b.origin && (a.pathname === b.pathname || a.pathname.startsWith(below));
}

async function fetchIssuerMetadata(outbound: OutboundOptions, issuer: string): Promise<Record<string, unknown>> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const urls = [`${origin}/.well-known/oauth-authorization-server${path}`];
  urls.push(`${origin}/.well-known/openid-configuration${path}`);
  if (path) urls.push(`${origin}${path}/.well-known/openid-configuration`);
  const found = await fetchFirstDocument(outbound, urls);
  if (!found) throw new ProviderError(`${issuer} has no authorization server metadata`, true);
  if (stripTrailingSlash(findText(found, 'issuer') ?? '') !== stripTrailingSlash(issuer)) {
    throw new ProviderError(`the metadata of ${issuer} belongs to a different issuer`, true);
  }
  return found;
}

async function resolveClientId(
  deps: ServerAuthorizationDeps,
  outbound: OutboundOptions,
  metadata: Record<string, unknown>,
  { registrationUrl, digest }: { registrationUrl: string; digest: string },
): Promise<string> {
  // A document is read by the other side, so it has to be on the internet.
  const takesDocuments = metadata.client_id_metadata_document_supported === true;
  if (takesDocuments && deps.baseUrl.startsWith('https:')) return buildClientDocumentUrl(deps, digest);
  if (!registrationUrl) {
    throw new ProviderError(
      'the authorization server can neither register clients nor read our client document; use a token instead',
      true,
    );
  }
  const answer = await requestProvider(outbound, registrationUrl, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    body: JSON.stringify(buildClientMetadata(buildIssuerRedirectUri(deps, digest))),
  });
  const registered = parseDocument(answer);
  const clientId = registered && answer.status < 300 ? findText(registered, 'client_id') : null;
  if (clientId === null) {
    const said = registered && (findText(registered, 'error_description') ?? findText(registered, 'error'));
    const why = said ? toPlainText(said).slice(0, 200) : `status ${answer.status}`;
    throw new ProviderError(`the authorization server did not register us as a client: ${why}`, true);
  }
  const method = registered && findText(registered, 'token_endpoint_auth_method');
  if (method && method !== 'none') {
    throw new ProviderError('the authorization server registers only clients with a secret', true);
  }
  return clientId;
}

/** The first that is there. An error as the response means that there is none. */
async function fetchFirstDocument(outbound: OutboundOptions, urls: string[]): Promise<Record<string, unknown> | null> {
  for (const place of urls) {
    const at = parseMetadataUrl(outbound, place, 'resource_metadata');
    const answer = await requestProvider(outbound, at, { method: 'GET', headers: { Accept: 'application/json' } });
    const found = answer.status === 200 ? parseDocument(answer) : null;
    if (found) return found;
  }
  return null;
}

function parseDocument(response: OutboundResponse): Record<string, unknown> | null {
  const json = parseBody(response);
  return typeof json === 'object' && json !== null && !Array.isArray(json) ? (json as Record<string, unknown>) : null;
}

const findText = (document: Record<string, unknown>, name: string): string | null => {
  const { [name]: value } = document;
  return typeof value === 'string' && value.length > 0 && value.length <= 2_048 ? value : null;
};

const listTexts = (document: Record<string, unknown>, name: string): string[] => {
  const { [name]: value } = document;
  return Array.isArray(value)
    ? value.filter((one): one is string => typeof one === 'string' && one.length <= 2_048)
    : [];
};

function findMetadataUrl(
  outbound: OutboundOptions,
  metadata: Record<string, unknown>,
  name: string,
  isRequired: boolean,
) {
  const given = findText(metadata, name);
  if (given !== null) return parseMetadataUrl(outbound, given, name);
  if (isRequired) throw new ProviderError(`the authorization server's metadata has no ${name}`, true);
  return null;
}

function parseMetadataUrl({ allow }: OutboundOptions, address: string, name: string): string {
  try {
    return checkOutboundUrl(address, { allow }).href;
  } catch (err) {
    if (err instanceof OutboundError)
      throw new ProviderError(`the ${name} URL cannot be used: ${err.message}`, true, err);
    throw err;
  }
}

const stripTrailingSlash = (address: string): string => address.replace(/\/$/, '');

/** The server's authorization server, as providers of the catalogue are. */
export function toServerOauthConfig(
  deps: Pick<ServerAuthorizationDeps, 'outboundAllow' | 'dashboardUrl'>,
  authorization: ServerAuthorization,
): OauthConfig {
  const { issuer, authorizeUrl, tokenUrl, revokeUrl, resource, scopes, clientId, sendsIssuer } = authorization;
  const host = new URL(resource).host;
  const provider: Provider = {
    slug: host,
    name: host,
    description: '',
    category: '',
    logo: '',
    docsUrl: '',
    app: host,
    protocol: 'oauth2',
    issuer,
    authorizeUrl,
    tokenUrl,
    authorizeParams: { resource },
    tokenParams: { resource },
    hosts: [host],
    sendsIssuer,
    scopes: scopes.map((name) => ({ name, description: '', default: true })),
    clientAuth: 'post',
    send: { header: 'Authorization', prefix: 'Bearer ' },
    account: { label: [] },
    tools: [],
    revoke:
      revokeUrl === null
        ? null
        : { method: 'POST', url: revokeUrl, token: 'refresh', auth: 'none', form: REVOCATION_BODY },
  };
  return {
    provider,
    parameters: {},
    client: { id: clientId, secret: undefined },
    redirectUri: authorization.redirectUri ?? buildRedirectUri(deps),
    outbound: { allow: deps.outboundAllow },
  };
}

const REVOCATION_BODY = { token: '{token}', client_id: '{client_id}' };
