/** OAuth 2 and OpenID Connect with any provider of the catalogue, by openid-client. */
import * as client from 'openid-client';
import type { Provider, Revocation } from '../integrations/catalog/provider';
import type { OauthClientCredentials } from '../integrations/integrations';
import type { OauthGrantCredential } from './credential';
import { loadSigningMetadata, type SigningMetadata } from './id-token-keys';
import { listHeaderValues, maskPrefix } from './mask-request';
import {
  createProviderFetch,
  type OutboundOptions,
  ProviderError,
  parseBody,
  requestProvider,
  toProviderError,
} from './provider-fetch';
import { buildRequest, fillTemplate, findTextByPaths } from './request-template';

/** A provider as one connection sees it: with the gaps of its addresses filled. */
export interface OauthConfig {
  provider: Provider;
  parameters: Readonly<Record<string, string>>;
  client: OauthClientCredentials;
  redirectUri: string;
  outbound: OutboundOptions;
}

export interface Tokens {
  accessToken: string;
  /** Null: none came. At a refresh the present one goes on. */
  refreshToken: string | null;
  /** Null: not said, which means those that were asked for. */
  scopes: string[] | null;
  /** Null: not said. */
  expiresInSeconds: number | null;
  /** All that the endpoint answered. */
  responseBody: Record<string, unknown>;
}

export interface AuthorizationRedirect {
  url: string;
  /** Digest of the provider's addresses at that time. */
  addressDigest: string | null;
  state: string;
  nonce: string | null;
  codeVerifier: string;
}

/** @param signing given where an ID token is expected: one that is not signed by these keys is refused */
function buildConfiguration(
  { provider, parameters, client: { id, secret }, outbound }: OauthConfig,
  tokenUrl: string,
  signing?: SigningMetadata,
) {
  const toEndpointUrl = (url: string) => fillTemplate(url, parameters);
  const auth =
    secret === undefined
      ? client.None()
      : provider.clientAuth === 'basic'
        ? client.ClientSecretBasic(secret)
        : client.ClientSecretPost(secret);
  const configuration = new client.Configuration(
    {
      issuer: provider.issuer ?? new URL(toEndpointUrl(provider.authorizeUrl)).origin,
      authorization_endpoint: toEndpointUrl(provider.authorizeUrl),
      token_endpoint: toEndpointUrl(tokenUrl),
      ...(provider.sendsIssuer && { authorization_response_iss_parameter_supported: true }),
      ...signing,
    },
    id,
    {},
    auth,
  );
  configuration[client.customFetch] = createProviderFetch(outbound, { keepsIdToken: signing !== undefined });
  if (signing) client.enableNonRepudiationChecks(configuration);
  // Only addresses that the operator has opened are plain: see integrations/custom-provider.ts.
  if (toEndpointUrl(tokenUrl).startsWith('http:')) client.allowInsecureRequests(configuration);
  return configuration;
}

/** The address for the browser, and the values that have to come back with it. */
export async function buildAuthorizationRedirect(
  config: OauthConfig,
  scopes: readonly string[],
): Promise<AuthorizationRedirect> {
  const { provider, redirectUri } = config;
  const state = client.randomState();
  const codeVerifier = client.randomPKCECodeVerifier();
  const nonce = provider.protocol === 'oidc' ? client.randomNonce() : null;
  const url = client.buildAuthorizationUrl(buildConfiguration(config, provider.tokenUrl), {
    ...provider.authorizeParams,
    redirect_uri: redirectUri,
    ...(scopes.length && { scope: scopes.join(provider.scopeSeparator ?? ' ') }),
    state,
    ...(nonce !== null && { nonce }),
    code_challenge: await client.calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
  });
  return { url: url.href, addressDigest: provider.addressDigest ?? null, state, nonce, codeVerifier };
}

/**
 * Refuses what another issuer answers, or a stranger in its name, refusals included (RFC 9207).
 * @throws ProviderError
 */
export function requireIssuer({ provider: { issuer, sendsIssuer } }: OauthConfig, iss: string | undefined): void {
  // Only where the issuer is known can another one be told from it.
  if (issuer === undefined || (iss === undefined && !sendsIssuer)) return;
  if (iss !== issuer) throw new ProviderError(`the response is not from ${issuer}`, true);
}

/** @throws ProviderError */
export async function exchangeCode(
  config: OauthConfig,
  callback: { code: string; iss: string | undefined },
  { state, nonce, codeVerifier }: Omit<AuthorizationRedirect, 'url' | 'addressDigest'>,
): Promise<Tokens> {
  const { provider, redirectUri } = config;
  const url = new URL(redirectUri);
  url.searchParams.set('code', callback.code);
  url.searchParams.set('state', state);
  if (provider.issuer !== undefined && callback.iss !== undefined) url.searchParams.set('iss', callback.iss);
  return requestTokens(async () => {
    // First: without its keys, what the token endpoint answers could not be believed.
    const signing =
      nonce === null || provider.issuer === undefined
        ? undefined
        : await loadSigningMetadata(provider.issuer, config.outbound);
    const checks = {
      expectedState: state,
      pkceCodeVerifier: codeVerifier,
      ...(nonce !== null && { expectedNonce: nonce, idTokenExpected: true }),
    };
    const configuration = buildConfiguration(config, provider.tokenUrl, signing);
    return client.authorizationCodeGrant(configuration, url, checks, { ...provider.tokenParams });
  });
}

export const ENDPOINTS_CHANGED_MESSAGE =
  "the provider's addresses have changed since consent was given; give consent again";

/** @throws ProviderError where the provider is at other addresses than those that gave it */
function requireUnchangedEndpoints(
  { addressDigest }: Provider,
  grant: Pick<OauthGrantCredential, 'addressDigest'>,
): void {
  if (grant.addressDigest !== undefined && grant.addressDigest !== addressDigest)
    throw new ProviderError(ENDPOINTS_CHANGED_MESSAGE, true);
}

/**
 * An ID token that comes along is left unread: nothing needs it, and a refresh token that was spent must not be lost
 * over it.
 * @throws ProviderError
 */
export const refreshTokens = (
  config: OauthConfig,
  grant: OauthGrantCredential,
  refreshToken: string,
): Promise<Tokens> =>
  requestTokens(async () => {
    requireUnchangedEndpoints(config.provider, grant);
    const { refreshUrl, tokenUrl, tokenParams } = config.provider;
    return client.refreshTokenGrant(buildConfiguration(config, refreshUrl ?? tokenUrl), refreshToken, {
      ...tokenParams,
    });
  });

async function requestTokens(sendRequest: () => Promise<client.TokenEndpointResponse>): Promise<Tokens> {
  try {
    const answer = await sendRequest();
    return {
      accessToken: answer.access_token,
      refreshToken: answer.refresh_token ?? null,
      scopes:
        answer.scope === undefined
          ? null
          : answer.scope
              .split(/[\s,]+/)
              .filter(Boolean)
              .slice(0, 200),
      expiresInSeconds: answer.expires_in ?? null,
      responseBody: { ...answer },
    };
  } catch (err) {
    throw toProviderError(err);
  }
}

const LABEL_CHARS_MAX = 200;

/**
 * Whose account a token is for; null: the provider does not say.
 * @throws ProviderError; final where the token is refused
 */
export async function fetchAccountLabel(
  { provider, parameters, outbound }: Omit<OauthConfig, 'client' | 'redirectUri'>,
  {
    accessToken,
    refreshToken,
    addressDigest,
  }: Pick<OauthGrantCredential, 'accessToken' | 'addressDigest'> & Partial<OauthGrantCredential>,
  tokenResponse: unknown,
): Promise<string | null> {
  requireUnchangedEndpoints(provider, { addressDigest });
  const { account, send, headers } = provider;
  const credential = { [send.header]: `${send.prefix}${accessToken}` };
  const findLabel = (responseBody: unknown) => {
    const label = findTextByPaths(responseBody, account.label);
    const secrets = [...listHeaderValues(credential), ...(refreshToken ? [refreshToken] : [])];
    return label && maskPrefix(label, secrets, LABEL_CHARS_MAX);
  };
  if (!account.request) return findLabel(tokenResponse);
  const { url, ...request } = buildRequest(account.request, parameters);
  const response = await requestProvider(outbound, url, {
    ...request,
    headers: { ...headers, ...request.headers, ...credential },
  });
  const json = parseBody(response);
  const host = new URL(url).host;
  // Some refuse with status 200 and say so in the body.
  const refusal = (json as { ok?: unknown; error?: unknown } | null | undefined)?.ok === false;
  if (response.status === 401 || response.status === 403 || refusal) {
    throw new ProviderError(
      `${host} rejected the token (status ${response.status})`,
      response.status === 401 || refusal,
    );
  }
  if (response.status >= 300) throw new ProviderError(`${host} responded with status ${response.status}`, false);
  return findLabel(json);
}

/** Nothing where the provider documents no way. @throws ProviderError where it may be tried again */
export async function revokeGrant(config: OauthConfig, grant: OauthGrantCredential): Promise<void> {
  const { provider, parameters, outbound } = config;
  const { revoke: revocation } = provider;
  requireUnchangedEndpoints(provider, grant);
  if (!revocation) return;
  const token = revocation.token === 'refresh' ? (grant.refreshToken ?? grant.accessToken) : grant.accessToken;
  const inUrl = { ...parameters, token: encodeURIComponent(token), client_id: encodeURIComponent(config.client.id) };
  const body = buildRevocationBody(revocation, config.client, token);
  await requestProvider(outbound, fillTemplate(revocation.url, inUrl), {
    method: revocation.method,
    headers: {
      Accept: 'application/json',
      ...provider.headers,
      ...(body && { 'Content-Type': body.type }),
      ...buildRevocationHeaders(revocation, config.client, grant.accessToken),
    },
    ...(body && { body: body.text }),
  });
}

function buildRevocationBody(
  revocation: Revocation,
  { id, secret }: OauthClientCredentials,
  token: string,
): { type: string; text: string } | null {
  const fillTemplateValues = (values: Readonly<Record<string, string>>) =>
    Object.entries(values).map(
      ([name, value]) => [name, fillTemplate(value, { token, client_id: id })] as [string, string],
    );
  if (revocation.json)
    return { type: 'application/json', text: JSON.stringify(Object.fromEntries(fillTemplateValues(revocation.json))) };
  if (!revocation.form) return null;
  const form = new URLSearchParams(fillTemplateValues(revocation.form));
  if (revocation.withClientSecret && secret !== undefined) form.set('client_secret', secret);
  return { type: 'application/x-www-form-urlencoded', text: form.toString() };
}

function buildRevocationHeaders(
  { auth }: Revocation,
  { id, secret }: OauthClientCredentials,
  accessToken: string,
): Record<string, string> {
  if (auth === 'bearer') return { Authorization: `Bearer ${accessToken}` };
  if (auth === 'none') return {};
  const encoded = [id, secret ?? ''].map(encodeURIComponent).join(':');
  return { Authorization: `Basic ${Buffer.from(encoded).toString('base64')}` };
}
