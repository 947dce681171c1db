import { type Operations, ok } from '@gantry/http';
import { computeSubjectStats, computeSubjectTimeseries } from '@gantry/run-engine';
import { getVisibleWorker } from '../workers/worker-repository';
import type { RunDeps } from './run-deps';

export function createStatsOperations({ pool, prisma, now }: RunDeps): Operations<'worker'> {
  return {
    getWorkerStats: async ({ caller, path }) => {
      const worker = await getVisibleWorker(prisma, caller, path.worker_id);
      return ok({ worker_id: worker.id, ...(await computeSubjectStats(pool, worker.uid, now())) });
    },

    getWorkerTimeseries: async ({ caller, path, query }) => {
      const worker = await getVisibleWorker(prisma, caller, path.worker_id);
      const { days, bucket } = query;
      return ok(await computeSubjectTimeseries(pool, worker.uid, { days, bucket, now: now() }));
    },
  };
}
