import { enqueue, networkRefused } from '@gantry/events';
import type { OnRefused } from '@gantry/run-engine';

/** Publishes a refused network request, for alerts. */
export const enqueueRefusedRequest: OnRefused = async (tx, refusedRequest) => {
  const { workspaceId, subjectId, subjectRef, traceparent, ...request } = refusedRequest;
  const worker = { workerUid: subjectId, workerId: subjectRef ?? subjectId };
  await enqueue(tx, networkRefused, workspaceId, { ...worker, ...request }, traceparent ?? undefined);
};
