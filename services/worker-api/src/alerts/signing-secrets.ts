/** The secrets that sign an alert's webhooks, sealed in its row. */
import type { Place, Vault } from '@gantry/vault';
import { z } from 'zod';
import type { Alert } from '../generated/prisma/client';
import { newSigningKey } from '../webhook-signature';

/** How long the secret before the last rotation signs too. */
const OVERLAP_MS = 86_400_000;

/** The newest first; `until` in epoch milliseconds, null: without end. */
const signingSecrets = z.array(z.object({ secret: z.string(), until: z.number().nullable() }));

type SecretHolder = Pick<Alert, 'id' | 'workspaceId' | 'signingKey'>;

const placeOf = ({ id }: SecretHolder): Place => ({ table: 'alerts', name: `signing_key:${id}`, version: 1 });

/** A new secret, to be shown this once, and what to write into the row. Call it before the transaction that does. */
export async function rotateSigningSecret(
  vault: Vault,
  alert: SecretHolder,
  now: Date,
): Promise<{ secret: string; signingKey: Uint8Array<ArrayBuffer> }> {
  const secret = newSigningKey();
  const [current] = await openSigningSecrets(vault, alert, now);
  const kept = [
    { secret, until: null },
    ...(current === undefined ? [] : [{ secret: current, until: now.getTime() + OVERLAP_MS }]),
  ];
  const sealed = await vault.seal(alert.workspaceId, placeOf(alert), JSON.stringify(kept));
  return { secret, signingKey: new Uint8Array(sealed) };
}

/** Those that sign now, the newest first; none where the alert never had a URL. */
export async function openSigningSecrets(vault: Vault, alert: SecretHolder, now: Date): Promise<string[]> {
  if (!alert.signingKey) return [];
  const text = await vault.open(alert.workspaceId, placeOf(alert), alert.signingKey);
  return signingSecrets
    .parse(JSON.parse(text))
    .filter(({ until }) => until === null || until > now.getTime())
    .map(({ secret }) => secret);
}
