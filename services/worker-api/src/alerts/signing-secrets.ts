/** Manages the secrets that sign an alert's webhooks, sealed in its row. */
import { openCurrentSecrets, type RotatingSecret, sealRotatedSecret, type Vault } from '@gantry/vault';
import type { Alert } from '../generated/prisma/client';
import { createSigningKey } from '../triggers/webhook/webhook-signature';

type SignedAlert = Pick<Alert, 'id' | 'workspaceId' | 'signingKey'>;

const toRotatingSecret = ({ id, workspaceId, signingKey }: SignedAlert): RotatingSecret => ({
  workspaceId,
  associatedData: { table: 'alerts', name: `signing_key:${id}`, version: 1 },
  sealed: signingKey,
});

/** Returns a new secret, shown only once, and the row's new value. Call it before the transaction that writes it. */
export async function rotateSigningSecret(
  vault: Vault,
  alert: SignedAlert,
  now: Date,
): Promise<{ secret: string; signingKey: Uint8Array<ArrayBuffer> }> {
  const secret = createSigningKey();
  return { secret, signingKey: await sealRotatedSecret(vault, toRotatingSecret(alert), secret, now) };
}

/** Opens the secrets that sign now, the newest first; none if the alert never had a URL. */
export const openSigningSecrets = (vault: Vault, alert: SignedAlert, now: Date): Promise<string[]> =>
  openCurrentSecrets(vault, toRotatingSecret(alert), now);
