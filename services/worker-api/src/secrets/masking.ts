/**
 * Masks the values of secrets in what models and people are sent, as the executor does in what runs send. Matchers are
 * built in a thread and kept for a minute; a text is searched in linear time, and a long one in turns with everything
 * else.
 */
import path from 'node:path';
import { AppError } from '@gantry/errors';
import {
  createPreparedRedactor,
  createRedactor,
  createSecretsKeyedCache,
  type PreparedSecrets,
  type Redactor,
} from '@gantry/masking';
import { createThreadPool, type ThreadLimits } from '@gantry/thread-pool';

export interface Masking {
  /** @throws AppError 503 where there is more to be masked than a matcher may hold */
  redactorFor(secrets: string[]): Promise<Redactor>;
  stop(): Promise<void>;
}

const THREAD = path.resolve(__dirname, '../../dist/secrets/masking-thread.js');
const LIMITS: ThreadLimits = { threads: 1, taskMs: 10_000, waitMs: 30_000, heapMb: 256 };
/** Their matcher is built here within a millisecond or two. */
const INLINE_BYTES_MAX = 512;
/**
 * Twice what a workspace may store, since the credentials of a call are masked as well. A matcher takes 350 times as
 * much.
 */
const BYTES_MAX = 512 * 1024;

export function createMasking(): Masking {
  const pool = createThreadPool<{ secrets: string[] }, PreparedSecrets>(THREAD, LIMITS);

  async function buildRedactor(secrets: string[]): Promise<Redactor> {
    const bytes = secrets.reduce((sum, secret) => sum + Buffer.byteLength(secret), 0);
    if (bytes <= INLINE_BYTES_MAX) return createRedactor(secrets);
    if (bytes > BYTES_MAX) {
      throw createMaskingUnavailableError(
        `this workspace's secrets total ${Math.ceil(bytes / 1024)} KB, but at most ${BYTES_MAX / 1024} KB can be masked; delete some secrets`,
      );
    }
    const outcome = await pool.run({ secrets });
    if ('result' in outcome) return createPreparedRedactor(outcome.result);
    throw createMaskingUnavailableError('secrets cannot be masked at the moment; try again', outcome.problem);
  }

  return { redactorFor: createSecretsKeyedCache(buildRedactor), stop: () => pool.stop() };
}

const createMaskingUnavailableError = (detail: string, cause?: string): AppError =>
  new AppError('unavailable', 'secrets_not_masked', detail, {
    cause: cause === undefined ? undefined : new Error(cause),
  });
