/**
 * Services that the catalogue does not have: the operator or a workspace says where they are, and the rest is generic.
 */
import { createHash } from 'node:crypto';
import { type FieldProblem, invalid } from '@gantry/errors';
import { checkOutboundUrl, isAllowedByOperator, OutboundError } from '@gantry/safe-fetch';
import { BEARER, buildRfc7009Revocation, type Provider } from './catalog/provider';
import type { CustomProvider } from './oauth-apps';

const HOST_PATTERN = /^(\*\.)?[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63}){0,10}(:[0-9]{1,5})?$/;

/** Sorted out of what was given. @throws AppError 400 naming what is no host */
export function parseHosts(hosts: string[], path = 'hosts'): string[] {
  const wrong = hosts.findIndex((host) => !HOST_PATTERN.test(host.toLowerCase()));
  if (wrong === -1) return [...new Set(hosts.map((host) => host.toLowerCase()))];
  throw invalid([
    {
      path: `${path}[${wrong}]`,
      message: 'must be a host without https://, such as api.example.com or *.example.com',
    },
  ]);
}

/**
 * Whether a provider may be reached at a URL: by https on the public internet, or where the operator allows it
 * (OUTBOUND_ALLOW_CIDRS), which alone may be by http.
 * @returns what is wrong, or null
 */
export function findProviderUrlProblem(url: string, allow: string[]): string | null {
  try {
    const { protocol, hash } = checkOutboundUrl(url, { allow });
    if (hash) return 'must not have a fragment';
    return protocol === 'https:' || isAllowedByOperator(url) ? null : 'must begin with https://';
  } catch (err) {
    if (err instanceof OutboundError) return err.message;
    throw err;
  }
}

const ADDRESSES = ['issuer', 'authorize_url', 'token_url', 'revoke_url', 'userinfo_url'] as const;

/** @throws AppError 400 naming each address that may not be reached, and each host that is none */
export function requireValidProvider(provider: CustomProvider, allow: string[]): void {
  const problems: FieldProblem[] = ADDRESSES.flatMap((field) => {
    const url = provider[field];
    const message = url === undefined ? null : findProviderUrlProblem(url, allow);
    return message === null ? [] : [{ path: `provider.${field}`, message }];
  });
  if (provider.protocol === 'oidc' && provider.issuer === undefined) {
    problems.push({ path: 'provider.issuer', message: 'is required because ID tokens contain it' });
  }
  if (problems.length) throw invalid(problems);
  parseHosts(provider.hosts, 'provider.hosts');
}

const hashEndpoints = (addresses: (string | undefined)[]): string =>
  createHash('sha256').update(JSON.stringify(addresses)).digest('base64url');

export function buildProvider(slug: string, custom: CustomProvider): Provider {
  const { protocol, name, issuer, authorize_url, token_url, revoke_url, userinfo_url, hosts } = custom;
  const clientAuth = custom.client_auth ?? 'basic';
  return {
    slug,
    name,
    protocol,
    clientAuth,
    app: slug,
    category: 'Own',
    send: BEARER,
    tools: [],
    description: protocol === 'oidc' ? 'Any OpenID Connect service' : 'Any OAuth 2 service',
    logo: name.slice(0, 2).toUpperCase(),
    docsUrl: new URL(authorize_url).origin,
    addressDigest: hashEndpoints([issuer, authorize_url, token_url, custom.revoke_url, custom.userinfo_url]),
    authorizeUrl: authorize_url,
    tokenUrl: token_url,
    ...(issuer !== undefined && { issuer }),
    scopes: (custom.scopes ?? []).map((scope) => ({ name: scope, description: scope, default: true as const })),
    ...(protocol === 'oidc' && { alwaysScopes: ['openid'] }),
    hosts: hosts.map((host) => host.toLowerCase()),
    account: {
      ...(userinfo_url && { request: { method: 'GET' as const, url: userinfo_url } }),
      label: [['email'], ['preferred_username'], ['login'], ['username'], ['name'], ['sub']],
    },
    revoke: revoke_url ? buildRfc7009Revocation(revoke_url, clientAuth === 'basic' ? 'basic' : 'none') : null,
  };
}
