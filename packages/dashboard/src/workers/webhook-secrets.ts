/** Secrets that a response shows once, passed from the page that created a webhook to the one that shows it. */
import type { ChangedWorker } from '../shell/api';

export interface WebhookSecrets {
  token?: string;
  signingKey?: string;
}

/** In memory only: after a reload, new ones have to be created. */
const secretsByWorker = new Map<string, WebhookSecrets>();

export const toWebhookSecrets = (worker: ChangedWorker): WebhookSecrets => ({
  ...(worker.webhook_secret && { token: worker.webhook_secret }),
  ...(worker.webhook_signing_key && { signingKey: worker.webhook_signing_key }),
});

export const storeWebhookSecrets = (worker: ChangedWorker): unknown =>
  secretsByWorker.set(worker.id, toWebhookSecrets(worker));

export const getWebhookSecrets = (workerId: string): WebhookSecrets => secretsByWorker.get(workerId) ?? {};
