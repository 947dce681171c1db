/** Secrets that a response shows once, passed from the page that created a webhook to the one that shows it. */
import type { ChangedWorker } from '../shell/api';

export interface WebhookSecrets {
  token?: string;
  signingKey?: string;
}

/** In memory only: after a reload, new ones have to be created. */
const kept = new Map<string, WebhookSecrets>();

export const secretsIn = (changed: ChangedWorker): WebhookSecrets => ({
  ...(changed.webhook_secret && { token: changed.webhook_secret }),
  ...(changed.webhook_signing_key && { signingKey: changed.webhook_signing_key }),
});

export const keepWebhookSecrets = (made: ChangedWorker): unknown => kept.set(made.id, secretsIn(made));

export const takeWebhookSecrets = (workerId: string): WebhookSecrets => kept.get(workerId) ?? {};
