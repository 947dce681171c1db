import { callerOf, type Operations } from '@gantry/http';
import type { Deps } from '../deps';
import { getVisibleWorker } from '../workers/worker-repository';
import { type Bucket, workerStats, workerTimeseries } from './run-stats';

export function statsOperations({ pool, prisma, now }: Deps): Operations {
  return {
    getWorkerStats: async (req, res) => {
      const worker = await getVisibleWorker(prisma, callerOf(req), String(req.params.worker_id));
      res.json(await workerStats(pool, worker, now()));
    },

    getWorkerTimeseries: async (req, res) => {
      const worker = await getVisibleWorker(prisma, callerOf(req), String(req.params.worker_id));
      const { days, bucket } = req.query as unknown as { days: number; bucket: Bucket };
      res.json(await workerTimeseries(pool, worker.uid, { days, bucket, now: now() }));
    },
  };
}
