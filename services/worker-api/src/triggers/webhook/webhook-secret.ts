/**
 * Credentials that the sender of a webhook shows: a token in the address and, where the trigger is signed, a key that
 * signs each request. The database keeps the token as an HMAC and the key sealed; both are shown once.
 */
import { createOpaqueToken } from '@gantry/auth';
import { invalid } from '@gantry/errors';
import { openCurrentSecrets, type RotatingSecret, sealRotatedSecret, type Vault } from '@gantry/vault';
import type { Worker, WorkerTrigger } from '../../generated/prisma/client';
import type { TriggerInput } from '../trigger';
import type { TriggerDeps } from '../trigger-deps';
import { createSigningKey } from './webhook-signature';
import { buildWebhookUrl } from './webhook-trigger';

export type WebhookColumns = Pick<WorkerTrigger, 'webhookHash' | 'webhookPepperVersion' | 'webhookSigningKey'>;

export interface WebhookPlan {
  /** For the trigger's row; the other columns stay. */
  columns: Partial<WebhookColumns>;
  /** For the answer, this once. */
  shown: { webhook_url?: string; webhook_secret?: string; webhook_signing_key?: string };
}

export interface WebhookChange {
  worker: Pick<Worker, 'uid' | 'id' | 'workspaceId'>;
  /** The webhook that it has; undefined: none. */
  currentWebhook: Pick<WebhookColumns, 'webhookSigningKey'> | undefined;
  /** The triggers that the worker will have; null: they stay. */
  triggers: TriggerInput[] | null;
  rotateSecret: boolean;
  rotateSigningKey: boolean;
  now: Date;
}

/**
 * The secrets that a worker gets, keeps or loses by a change; a rotated token ends the old one at once, a rotated key
 * leaves the old one good for a day. Call it before the transaction that writes the columns.
 * @throws AppError 400 naming the rotation that has nothing to rotate
 */
export async function planWebhook(
  deps: TriggerDeps,
  { worker, currentWebhook, triggers, rotateSecret, rotateSigningKey, now }: WebhookChange,
): Promise<WebhookPlan> {
  const sealed = currentWebhook?.webhookSigningKey ?? null;
  const had = { token: currentWebhook !== undefined, key: sealed !== null };
  const webhook = triggers?.find((one) => one.type === 'webhook');
  const wanted = triggers ? { token: webhook !== undefined, key: webhook?.signed ?? false } : had;
  if (rotateSecret && !wanted.token)
    throw createNothingToRotateError('webhook_secret_rotate', 'has no webhook trigger');
  if (rotateSigningKey && !wanted.key)
    throw createNothingToRotateError('webhook_signing_key_rotate', 'has no signed webhook');
  const plan: WebhookPlan = { columns: {}, shown: {} };
  if (had.key && !wanted.key) plan.columns.webhookSigningKey = null;
  if (wanted.token && (!had.token || rotateSecret)) {
    const token = createOpaqueToken('whk_');
    const { hash, pepperVersion } = deps.hasher.hash(token);
    Object.assign(plan.columns, { webhookHash: new Uint8Array(hash), webhookPepperVersion: pepperVersion });
    plan.shown.webhook_secret = token;
    plan.shown.webhook_url = `${buildWebhookUrl(deps.baseUrl, worker.id)}?token=${token}`;
  }
  if (wanted.key && (!had.key || rotateSigningKey)) {
    const key = createSigningKey();
    plan.columns.webhookSigningKey = await sealRotatedSecret(
      deps.vault,
      toRotatingSecret({ ...worker, sealed }),
      key,
      now,
    );
    plan.shown.webhook_signing_key = key;
  }
  return plan;
}

const createNothingToRotateError = (path: string, reason: string) =>
  invalid([{ path, message: `the worker ${reason}` }]);

type SigningKeyHolder = Pick<Worker, 'uid' | 'workspaceId'> & Pick<RotatingSecret, 'sealed'>;

/** The key lies with the trigger; what it is sealed for is as old as the first of them, when it lay with the worker. */
const toRotatingSecret = ({ uid, workspaceId, sealed }: SigningKeyHolder): RotatingSecret => ({
  workspaceId,
  associatedData: { table: 'workers', name: `webhook_signing_key:${uid}`, version: 1 },
  sealed,
});

/** Keys that sign requests now, the newest first; none where the trigger isn't signed. */
export const openSigningKeys = (vault: Vault, holder: SigningKeyHolder, now: Date): Promise<string[]> =>
  openCurrentSecrets(vault, toRotatingSecret(holder), now);
