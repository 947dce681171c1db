/** An executor for which the code of a worker is a line of JSON: what becomes of a run, by its input `name`. */
import { type FakeJob, zeroUsage } from '@gantry/testing';
import { readTree } from '../file-trees/tree-pack';
import type { TestWorkerApi } from './test-worker-api';

export interface Played {
  returns?: unknown;
  /** The message of a ValueError. */
  raises?: string;
  logs?: string;
}

/** `*` stands for any other input. */
export const plays = (by: Record<string, Played>): string =>
  `# ${JSON.stringify(by)}\ndef run(name="world"):\n    return name\n`;

/** Until the result is called. @param onJob called with each job before it is played */
export async function playCode(
  api: TestWorkerApi,
  onJob: (job: FakeJob) => void = () => {},
): Promise<() => Promise<void>> {
  const executor = await api.connectExecutor();
  let isPlaying = true;
  const play = async () => {
    while (isPlaying && !executor.bus.nc.isClosed()) {
      const job = await executor.claim().catch(() => null);
      if (!job) continue;
      onJob(job);
      const { rows } = await api.deps.pool.query<{ key: string }>(
        `SELECT code_key AS key FROM worker_versions WHERE code_digest = $1
         UNION ALL SELECT code_key FROM worker_candidates WHERE code_digest = $1`,
        [job.code.digest],
      );
      const tree = await readTree(api.deps.objects, { key: rows[0]?.key ?? '' });
      const main = tree.find(({ path }) => path === 'main.py')?.content.toString() ?? '# {}\n';
      const by = JSON.parse(main.slice(2, main.indexOf('\n'))) as Record<string, Played>;
      const { returns, raises, logs } = by[String(job.inputs?.name)] ?? by['*'] ?? {};
      if (logs) await job.report({ type: 'started' }, { type: 'log', stream: 'stdout', level: 'info', text: logs });
      if (raises === undefined) {
        await job.complete(returns);
        continue;
      }
      const error = { code: 'exception' as const, type: 'ValueError', message: raises, trace: `ValueError: ${raises}` };
      await job.report({ type: 'started' }, { type: 'finished', status: 'failed', error, usage: zeroUsage });
    }
  };
  const done = play();
  return async () => {
    isPlaying = false;
    await Promise.race([done, executor.bus.nc.close()]);
  };
}
