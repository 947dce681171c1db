import type { Operations } from '@gantry/http';
import { createIdempotency, type RetryHandler } from '@gantry/limits';
import type { Request, Response } from 'express';
import { openSigningKeys } from '../../triggers/webhook/webhook-secret';
import { verifySignature } from '../../triggers/webhook/webhook-signature';
import type { WebhookWorker } from '../../workers/triggered-workers';
import type { TriggerStartDeps } from '../trigger-start-deps';
import { createWebhookWorkerLoader, receiveWebhook } from './receive-webhook';

const NO_BODY = Buffer.alloc(0);

export function createWebhookOperations(deps: TriggerStartDeps): Operations<'worker'> {
  const idempotency = createIdempotency(deps);
  const getWorkerBySecret = createWebhookWorkerLoader(deps.pool, deps.hasher);
  return {
    receiveWebhook: async ({ path, query, body, req, res }) => {
      const worker = await getWorkerBySecret({ workerId: path.worker_id, token: query.token ?? '' });
      const webhookId = await verifySignedId(deps, worker, req);
      await idempotency.once(req, res, toIdempotencyScope(worker), async () => {
        const runId = await receiveWebhook(deps, worker, {
          payload: body,
          webhookId,
          requestId: String(req.id),
          traceparent: req.get('traceparent'),
          idempotencyKey: req.idempotencyKey,
        });
        respondQueued(res, runId);
      });
    },
  };
}

/** Holders of the secret may see what its senders have started. Their keys are those of this worker alone. */
const toIdempotencyScope = ({ uid, workspaceId }: WebhookWorker) => ({
  operation: 'receiveWebhook',
  scope: uid,
  workspaceId,
  queryIsCredential: true as const,
  revisit: queuedRunRetryHandler,
});

const queuedRunRetryHandler: RetryHandler = {
  assertVisible: async () => {},
  answer: async (_req, res, runId) => respondQueued(res, runId),
};

const respondQueued = (res: Response, runId: string): void => void res.json({ status: 'queued', run_id: runId });

/** Null where the trigger isn't signed. @throws AppError 401 */
async function verifySignedId(
  { vault, now }: TriggerStartDeps,
  worker: WebhookWorker,
  req: Request,
): Promise<string | null> {
  const { webhookSigningKey: sealed } = worker;
  if (!sealed) return null;
  const keys = await openSigningKeys(vault, { ...worker, sealed }, now());
  return verifySignature(
    keys,
    {
      id: req.get('webhook-id'),
      timestamp: req.get('webhook-timestamp'),
      signature: req.get('webhook-signature'),
      body: req.rawBody ?? NO_BODY,
    },
    now(),
  );
}
