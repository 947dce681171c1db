/** Address of an issuer's keys, and the algorithms of its ID tokens: OpenID Connect Discovery 1.0. */
import * as client from 'openid-client';
import { createProviderFetch, type OutboundOptions, ProviderError, toProviderError } from './provider-fetch';

export type SigningMetadata = Pick<
  client.ServerMetadata,
  'jwks_uri' | 'id_token_signing_alg_values_supported' | 'authorization_response_iss_parameter_supported'
>;

const CACHE_MS = 3_600_000;
const ISSUERS_MAX = 200;

/** By issuer. Of this process: another replica asks for itself. */
const metadataCache = new Map<string, { facts: Promise<SigningMetadata>; until: number }>();

/**
 * Kept for an hour; a failure is not kept. The keys themselves are read at each use, so that one that was taken back
 * counts no more.
 * @throws ProviderError where the issuer does not say
 */
export function loadSigningMetadata(issuer: string, outbound: OutboundOptions): Promise<SigningMetadata> {
  const cached = metadataCache.get(issuer);
  if (cached && cached.until > Date.now()) return cached.facts;
  metadataCache.delete(issuer);
  if (metadataCache.size >= ISSUERS_MAX) metadataCache.delete(metadataCache.keys().next().value ?? '');
  const facts = discover(issuer, outbound);
  const entry = { facts, until: Date.now() + CACHE_MS };
  metadataCache.set(issuer, entry);
  facts.catch(() => {
    if (metadataCache.get(issuer) === entry) metadataCache.delete(issuer);
  });
  return facts;
}

async function discover(issuer: string, outbound: OutboundOptions): Promise<SigningMetadata> {
  try {
    const configuration = await client.discovery(new URL(issuer), 'of-no-client', undefined, client.None(), {
      [client.customFetch]: createProviderFetch(outbound, { keepsIdToken: false }),
      // Only addresses that the operator has opened are plain: see integrations/custom-provider.ts.
      ...(issuer.startsWith('http:') && { execute: [client.allowInsecureRequests] }),
    });
    const {
      jwks_uri,
      id_token_signing_alg_values_supported: algorithms,
      authorization_response_iss_parameter_supported: sendsIssuer,
    } = configuration.serverMetadata();
    if (jwks_uri === undefined) throw new ProviderError(`${new URL(issuer).host} does not publish a jwks_uri`, false);
    return {
      jwks_uri,
      ...(algorithms && { id_token_signing_alg_values_supported: algorithms }),
      ...(sendsIssuer === true && { authorization_response_iss_parameter_supported: true }),
    };
  } catch (err) {
    const { message, isFinal } = toProviderError(err);
    throw new ProviderError(`the keys for its ID tokens could not be retrieved: ${message}`, isFinal, err);
  }
}
