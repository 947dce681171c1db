/** Secrets that a response shows once, passed from the page that created a webhook to the one that shows it. */
import type { ChangedWorker, Worker } from '../shell/api';
import { workspaceSelection } from '../shell/workspace-selection';

export interface WebhookSecrets {
  token?: string;
  signingKey?: string;
}

/** In memory only: after a reload, new ones have to be created. */
const secretsByWorker = new Map<string, WebhookSecrets>();

/** The id of a worker is unique in its workspace only. */
const buildKey = ({ id }: Pick<Worker, 'id'>): string => `${workspaceSelection.current()} ${id}`;

/** Stores those that a response has; others stay. */
export function storeWebhookSecrets(worker: ChangedWorker): WebhookSecrets {
  const secrets = {
    ...getWebhookSecrets(worker),
    ...(worker.webhook_secret && { token: worker.webhook_secret }),
    ...(worker.webhook_signing_key && { signingKey: worker.webhook_signing_key }),
  };
  secretsByWorker.set(buildKey(worker), secrets);
  return secrets;
}

export const getWebhookSecrets = (worker: Pick<Worker, 'id'>): WebhookSecrets =>
  secretsByWorker.get(buildKey(worker)) ?? {};
