import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { createRedactor, type Redactor } from './redact';

const SETS_MAX = 32;
/** Size of the values. The structures built from them take up to a hundred times as much, usually ten times. */
const BYTES_MAX = 256 * 1024;
/**
 * Runs of one worker usually follow each other within this time; otherwise the matcher is rebuilt in a few
 * milliseconds.
 */
const TTL_MS = 60_000;

/**
 * Caches a redactor for each set of secrets, for runs that follow each other: building one for 64 KB takes about 50 ms,
 * and up to half a second if every character has to be escaped.
 *
 * A redactor is as sensitive as the values it was built from. It stays in memory while a run uses it and for at
 * most TTL_MS after the last run that began with it, and is never written to disk; sets are identified by a digest.
 */
export function createRedactorCache({ keepMs: ttlMs = TTL_MS } = {}): (secrets: string[]) => Redactor {
  return createSecretsKeyedCache(createRedactor, { keepMs: ttlMs });
}

/** Caches by set of secrets what `build` returns, such as redactors that are built asynchronously. */
export function createSecretsKeyedCache<Built extends object>(
  build: (secrets: string[]) => Built,
  { keepMs = TTL_MS } = {},
): (secrets: string[]) => Built {
  const cache = new LRUCache<string, Built>({
    max: SETS_MAX,
    maxSize: BYTES_MAX,
    ttl: keepMs,
    ttlAutopurge: true,
  });
  return (secrets) => {
    if (secrets.length === 0) return build([]);
    const key = computeDigest(secrets);
    const redactor = cache.get(key) ?? build(secrets);
    const bytes = secrets.reduce((sum, secret) => sum + Buffer.byteLength(secret), 0);
    // Set again, since a read alone would not renew its time to live.
    cache.set(key, redactor, { size: Math.max(bytes, 1) });
    return redactor;
  };
}

/** Lengths distinguish `ab`, `c` from `a`, `bc`; order is irrelevant. */
function computeDigest(secrets: string[]): string {
  const hash = createHash('sha256');
  for (const secret of [...secrets].sort()) hash.update(`${secret.length}:`).update(secret);
  return hash.digest('base64');
}
