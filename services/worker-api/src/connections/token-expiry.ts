/** When a token is refreshed. */
import type { Connection } from '../generated/prisma/client';

/** Before it ends, so that a run that starts with it does not see its end. */
const MARGIN_MS = 10 * 60_000;
/** A provider that names no time may still end tokens after an hour or two. */
const DEFAULT_LIFETIME_MS = 45 * 60_000;
const BACKOFF_MS = 30_000;
const BACKOFF_MS_MAX = 15 * 60_000;

/** A token that cannot be refreshed is looked at when it ends: a person has to consent again then. */
export function computeTokenExpiry(
  { expiresInSeconds, refreshToken }: { expiresInSeconds: number | null; refreshToken: string | null },
  now: Date,
): Pick<Connection, 'tokenExpiresAt' | 'refreshAt'> {
  const toDate = (ms: number) => new Date(now.getTime() + ms);
  if (expiresInSeconds === null) {
    return { tokenExpiresAt: null, refreshAt: refreshToken === null ? null : toDate(DEFAULT_LIFETIME_MS) };
  }
  // Times of a provider are bounded, since dates are.
  const lifetimeMs = Math.min(expiresInSeconds, 10 * 365 * 86_400) * 1_000;
  const tokenExpiresAt = toDate(lifetimeMs);
  if (refreshToken === null) return { tokenExpiresAt, refreshAt: tokenExpiresAt };
  return { tokenExpiresAt, refreshAt: toDate(lifetimeMs - Math.min(MARGIN_MS, lifetimeMs / 3)) };
}

/** @param failures in a row, this one included */
export const computeNextRefresh = (failures: number, now: Date): Date =>
  new Date(now.getTime() + Math.min(BACKOFF_MS * 2 ** Math.min(failures - 1, 20), BACKOFF_MS_MAX));
