import { idempotency, type Operations } from '@gantry/http';
import type { Request, Response } from 'express';
import type { Deps } from '../deps';
import type { Worker } from '../generated/prisma/client';
import { checkSignature } from '../webhook-signature';
import { getWorkerBySecret, receiveWebhook } from './receive-webhook';
import { openSigningKeys } from './webhook-secret';

const NO_BODY = Buffer.alloc(0);

export function webhookOperations(deps: Deps): Operations {
  return {
    receiveWebhook: async (req, res) => {
      const token = typeof req.query.token === 'string' ? req.query.token : '';
      const worker = await getWorkerBySecret(deps.prisma, deps.hasher, String(req.params.worker_id), token);
      const webhookId = await signedId(deps, worker, req);
      if (await isAnswered(deps, worker, req, res)) return;
      const runId = await receiveWebhook(deps, worker, {
        payload: req.body,
        webhookId,
        requestId: String(req.id),
        traceparent: req.get('traceparent'),
      });
      res.json({ status: 'queued', run_id: runId });
    },
  };
}

/** Null where the trigger isn't signed. @throws AppError 401 */
async function signedId({ vault, now }: Deps, worker: Worker, req: Request): Promise<string | null> {
  if (!worker.webhookSigningKey) return null;
  const keys = await openSigningKeys(vault, worker, now());
  return checkSignature(
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

/**
 * Idempotency-Key, but only of who has the secret, and among the keys of this worker's senders.
 * @returns true where the request came before and was answered from memory
 */
function isAnswered({ pool }: Deps, worker: Worker, req: Request, res: Response): Promise<boolean> {
  const remember = idempotency(pool, true, () => worker.uid);
  return new Promise((resolve, reject) => {
    const goOn = (problem?: unknown) => (problem ? reject(problem) : resolve(false));
    Promise.resolve(remember(req, res, goOn)).then(() => resolve(true), reject);
  });
}
