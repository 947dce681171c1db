/**
 * One answer of a model: attempts, then the models that stand in for it. Each attempt is a row of its own that was
 * reserved before it. Once a word was heard nothing is asked again: the person has read it, and it is paid.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Sql, transaction } from '@gantry/postgres';
import { RunEndedError } from '@gantry/run-engine';
import type { Pool } from 'pg';
import { isOwnAbort, type ModelCallError } from './call-failure';
import { reserveModelCall } from './model-budget';
import { type ModelCallEnding, type Spender, settleModelCall } from './model-call-repository';
import { computeCost, computeMaxCost, findPriceAt, type Usage } from './model-cost';
import type { ModelDeps } from './model-deps';
import type { OfferedModel } from './model-registry';
import {
  computeMaxOutputTokens,
  estimateInputTokens,
  type ModelRequest,
  ResponseStoppedError,
  readModelResponse,
  type StreamedResponse,
} from './read-model-response';

type ModelCallDeps = Pick<ModelDeps, 'pool' | 'log' | 'now'>;

export interface CallOptions extends ModelRequest {
  /** In the order in which they are asked. */
  models: OfferedModel[];
  spender: Spender;
  /** Attempts with each model after temporary failures. Default: 3. */
  attempts?: number;
  about: { conversationId: string | null; turnId: string | null };
}

export interface ModelResponse extends Pick<StreamedResponse, 'content' | 'isCut' | 'failure' | 'usage' | 'ignored'> {
  model: string;
  /** Null: its model has no price. */
  usd: number | null;
  /** Books what it cost, in the transaction that stores what it said. */
  settle: (tx: Sql) => Promise<unknown>;
}

export const ATTEMPTS = 3;
const RETRY_DELAY_MS = 500;
/** A provider that asks for a longer pause is passed over. */
const RETRY_AFTER_MS_MAX = 20_000;

const NOTHING: Usage = { inputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 0, isEstimated: true };

/**
 * @returns the answer; with `failure` where it broke off after its first word
 * @throws ModelCallError when none of them answers; AppError 403 for a budget; AbortError when stopped
 */
export async function callModel(deps: ModelCallDeps, options: CallOptions): Promise<ModelResponse> {
  const { attempts = ATTEMPTS } = options;
  let last: ModelCallError | undefined;
  for (const model of options.models) {
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const answer = await attemptOnce(deps, options, model);
      if (!answer.failure || answer.content.length > 0) return answer;
      await transaction(deps.pool, (tx) => answer.settle(tx));
      last = answer.failure;
      const { isTransient, retryAfterMs = RETRY_DELAY_MS * 2 ** attempt } = last;
      deps.log.info({ model: model.id, code: last.code, attempt }, 'a model did not respond');
      if (!isTransient || retryAfterMs > RETRY_AFTER_MS_MAX) break;
      if (attempt < attempts) await sleepUnlessAborted(retryAfterMs, options.signal);
    }
  }
  throw last ?? new Error('no model was called');
}

async function attemptOnce(deps: ModelCallDeps, options: CallOptions, model: OfferedModel): Promise<ModelResponse> {
  const { pool, now } = deps;
  const { spender, about, signal } = options;
  signal.throwIfAborted();
  const inputTokens = estimateInputTokens(options);
  const startedAt = now();
  const price = findPriceAt(model.prices, startedAt);
  const reservedUsd = computeMaxCost(price, inputTokens, computeMaxOutputTokens(model, options));
  const call = { ...spender, ...about, model: model.id, price, reservedUsd, now: startedAt };
  const id = await reserveModelCall(pool, call);
  const settle = (tx: Sql, ending: ModelCallEnding) => settleModelCall(tx, id, ending, now());
  try {
    const { usage, failure, ...read } = await readModelResponse(model, options);
    const usd = computeCost(price, usage);
    const outcome = failure ? 'failed' : 'ok';
    return {
      ...read,
      failure,
      usage,
      usd,
      model: model.id,
      settle: (tx) => settle(tx, { outcome, errorCode: failure?.code ?? null, usage, usd }),
    };
  } catch (err) {
    const cause = err instanceof ResponseStoppedError ? err.cause : err;
    const ended = cause instanceof RunEndedError && err instanceof ResponseStoppedError ? err.usage : null;
    // A call of unknown outcome counts as its input and its longest possible output.
    const usage = ended ?? { ...NOTHING, inputTokens };
    const usd = ended ? computeCost(price, ended) : reservedUsd;
    const outcome = isOwnAbort(cause) ? 'stopped' : 'failed';
    await transaction(pool, (tx) => settle(tx, { outcome, errorCode: null, usage, usd }));
    throw cause;
  }
}

/** Books an answer alone where what it belongs to cannot be stored: it was paid for all the same. */
export async function storeOrSettle<Stored>(
  pool: Pool,
  { settle }: Pick<ModelResponse, 'settle'>,
  store: () => Promise<Stored>,
): Promise<Stored> {
  try {
    return await store();
  } catch (err) {
    await transaction(pool, settle);
    throw err;
  }
}

/** @throws the signal's reason */
const sleepUnlessAborted = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
