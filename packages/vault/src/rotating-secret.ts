/**
 * Secrets that sign or verify requests and can be rotated: the previous secret stays valid for one day.
 * They are sealed in one column of their owner's row.
 */
import { z } from 'zod';
import type { AssociatedData, Vault } from './vault';

const OVERLAP_MS = 86_400_000;

/** The newest first; `until` in epoch milliseconds, null: no expiry. Older rows of webhooks use `key`. */
const entry = z.object({ secret: z.string().optional(), key: z.string().optional(), until: z.number().nullable() });
const entries = z.array(entry.transform(({ secret, key, until }) => ({ secret: secret ?? key ?? '', until })));

export interface RotatingSecret {
  workspaceId: string;
  associatedData: AssociatedData;
  /** The column; null if there is none yet. */
  sealed: Uint8Array | null;
}

/** The new value of the column. Call it before the transaction that writes it. */
export async function sealRotatedSecret(
  vault: Vault,
  rotatingSecret: RotatingSecret,
  newSecret: string,
  now: Date,
): Promise<Uint8Array<ArrayBuffer>> {
  const [current] = await openCurrentSecrets(vault, rotatingSecret, now);
  const until = now.getTime() + OVERLAP_MS;
  const kept = [{ secret: newSecret, until: null }, ...(current === undefined ? [] : [{ secret: current, until }])];
  return new Uint8Array(
    await vault.seal(rotatingSecret.workspaceId, rotatingSecret.associatedData, JSON.stringify(kept)),
  );
}

/** The secrets valid now, the newest first; none if the column is null. */
export async function openCurrentSecrets(vault: Vault, rotatingSecret: RotatingSecret, now: Date): Promise<string[]> {
  if (!rotatingSecret.sealed) return [];
  const text = await vault.open(rotatingSecret.workspaceId, rotatingSecret.associatedData, rotatingSecret.sealed);
  return entries
    .parse(JSON.parse(text))
    .filter(({ until }) => until === null || until > now.getTime())
    .map(({ secret }) => secret);
}
