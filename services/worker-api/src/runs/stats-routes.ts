import { callerOf, type Operations } from '@gantry/http';
import { type Bucket, subjectStats, subjectTimeseries } from '@gantry/run-engine';
import type { Deps } from '../deps';
import { getVisibleWorker } from '../workers/worker-repository';

export function statsOperations({ pool, prisma, now }: Deps): Operations {
  return {
    getWorkerStats: async (req, res) => {
      const worker = await getVisibleWorker(prisma, callerOf(req), String(req.params.worker_id));
      res.json({ worker_id: worker.id, ...(await subjectStats(pool, worker.uid, now())) });
    },

    getWorkerTimeseries: async (req, res) => {
      const worker = await getVisibleWorker(prisma, callerOf(req), String(req.params.worker_id));
      const { days, bucket } = req.query as unknown as { days: number; bucket: Bucket };
      res.json(await subjectTimeseries(pool, worker.uid, { days, bucket, now: now() }));
    },
  };
}
