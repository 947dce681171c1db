import { createHash } from 'node:crypto';
import { createRedactor, type Redactor } from './redact';

const SETS_MAX = 32;
/** Size of the values. The structures built from them take up to a hundred times as much, usually ten times. */
const BYTES_MAX = 256 * 1024;
/** Runs of one worker usually follow each other within this time; otherwise the matcher is rebuilt in a few milliseconds. */
const KEEP_MS = 60_000;

/**
 * Caches a redactor for each set of secrets, for runs that follow each other: building one for 64 KB takes about 50 ms, and
 * up to half a second if every character has to be escaped.
 *
 * A redactor is as sensitive as the values it was built from. It stays in memory while a run uses it and for at
 * most KEEP_MS after the last run that began with it, and is never written to disk; sets are identified by a digest.
 */
export function createRedactorCache({ keepMs = KEEP_MS } = {}): (secrets: string[]) => Redactor {
  /** In order of last use, the least recently used first. */
  const kept = new Map<string, { redactor: Redactor; bytes: number; until: number }>();
  let bytesKept = 0;
  let isWaiting = false;

  function drop(key: string) {
    bytesKept -= kept.get(key)?.bytes ?? 0;
    kept.delete(key);
  }

  function dropOldIn(ms: number) {
    if (isWaiting) return;
    isWaiting = true;
    setTimeout(() => {
      isWaiting = false;
      const now = Date.now();
      for (const [key, { until }] of kept) {
        if (until > now) return dropOldIn(until - now);
        drop(key);
      }
    }, ms).unref();
  }

  return (secrets) => {
    if (secrets.length === 0) return createRedactor([]);
    const key = digestOf(secrets);
    const found = kept.get(key);
    const redactor = found?.redactor ?? createRedactor(secrets);
    const bytes = secrets.reduce((sum, secret) => sum + Buffer.byteLength(secret), 0);
    drop(key);
    kept.set(key, { redactor, bytes, until: Date.now() + keepMs });
    bytesKept += bytes;
    for (const oldest of kept.keys()) {
      if (kept.size <= SETS_MAX && bytesKept <= BYTES_MAX) break;
      drop(oldest);
    }
    dropOldIn(keepMs);
    return redactor;
  };
}

/** Lengths distinguish `ab`, `c` from `a`, `bc`; order is irrelevant. */
function digestOf(secrets: string[]): string {
  const hash = createHash('sha256');
  for (const secret of [...secrets].sort()) hash.update(`${secret.length}:`).update(secret);
  return hash.digest('base64');
}
