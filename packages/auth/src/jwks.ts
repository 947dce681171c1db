/** The issuer's public keys, fetched over HTTP and cached. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import type { FindKey } from './jwt';

const jwks = z.object({ keys: z.array(z.looseObject({})) });
const usableKey = z.discriminatedUnion('kty', [
  z.looseObject({ kid: z.string(), kty: z.literal('EC'), crv: z.literal('P-256'), x: z.string(), y: z.string() }),
  z.looseObject({ kid: z.string(), kty: z.literal('RSA'), n: z.string(), e: z.string() }),
]);

const FRESH_MS = 10 * 60_000;
/** An unknown kid triggers a refetch, but only this often: a client can invent kids. */
const REFETCH_MS = 15_000;
const TIMEOUT_MS = 2_000;

/**
 * Keys are refetched when they are ten minutes old, and when a JWT names an unknown key. While the issuer is down,
 * cached keys stay in use.
 */
export function createRemoteKeyFinder(options: { url: string; fetch?: typeof fetch; now?: () => number }): FindKey {
  const { url, fetch: get = fetch, now = Date.now } = options;
  let keys: Map<string, KeyObject> | undefined;
  let triedAt = Number.NEGATIVE_INFINITY;
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let pendingFetch: Promise<void> | undefined;

  async function refetch() {
    triedAt = now();
    // With `error`, Node.js 20 and 22 forget the timeout of a body once its request has been garbage-collected.
    const response = await get(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'manual' });
    if (!response.ok) throw new Error(`${url} answered ${response.status}`);
    const keySet = jwks.parse(await response.json());
    // An issuer may publish keys of other kinds too; unusable ones are skipped.
    const usable = keySet.keys.flatMap((jwk) => usableKey.safeParse(jwk).data ?? []);
    if (!usable.length) throw new Error(`${url} contains no usable key`);
    keys = new Map(usable.map((jwk) => [jwk.kid, createPublicKey({ key: jwk, format: 'jwk' })]));
    fetchedAt = now();
  }

  const refetchOnce = () => {
    pendingFetch ??= refetch().finally(() => {
      pendingFetch = undefined;
    });
    return pendingFetch;
  };

  return async (kid) => {
    if (!keys) await refetchOnce();
    else if (now() - triedAt > REFETCH_MS && (!keys.has(kid) || now() - fetchedAt > FRESH_MS)) {
      await refetchOnce().catch(() => {});
    }
    return keys?.get(kid);
  };
}
