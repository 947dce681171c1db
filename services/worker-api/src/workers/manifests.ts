/** Reads and writes manifests in a thread of its own: 512 KB of YAML take the parser up to half a second. */
import path from 'node:path';
import { AppError } from '@gantry/errors';
import { createThreadPool, type ThreadLimits } from '@gantry/thread-pool';

export type ManifestTask = { path: string; content: Uint8Array } | { fields: Record<string, unknown> };
export type ParsedManifest = { value: unknown } | { problem: string };

export type Manifests = ReturnType<typeof createManifestParser>;

const THREAD = path.resolve(__dirname, '../../dist/workers/manifest-thread.js');
const LIMITS: ThreadLimits = { threads: 1, taskMs: 10_000, waitMs: 30_000, heapMb: 256 };

export function createManifestParser(limits: Partial<ThreadLimits> = {}) {
  const pool = createThreadPool<ManifestTask, ParsedManifest | string>(THREAD, { ...LIMITS, ...limits });

  async function runTask(task: ManifestTask): Promise<ParsedManifest | string> {
    const outcome = await pool.run(task);
    if ('result' in outcome) return outcome.result;
    if (outcome.reason === 'costly' && 'path' in task) return { problem: 'the manifest takes too long to parse' };
    throw new AppError('unavailable', 'manifest_busy', 'manifests cannot be processed at the moment; try again', {
      cause: new Error(outcome.problem),
    });
  }

  return {
    /** @throws AppError 503 */
    parse: async (path: string, content: Uint8Array) => (await runTask({ path, content })) as ParsedManifest,
    /** @returns YAML. @throws AppError 503 */
    format: async (fields: Record<string, unknown>) => (await runTask({ fields })) as string,
    stop: () => pool.stop(),
  };
}
