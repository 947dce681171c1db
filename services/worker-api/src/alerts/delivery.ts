/** Deliveries: retry schedule and API representation. */
import { toApiFields } from '@gantry/http';
import type { SurfaceSchemas } from '@gantry/openapi';
import type { AlertDelivery } from '../generated/prisma/client';

/** One attempt, as in the log of attempts and in the API. */
export type Attempt = SurfaceSchemas<'worker'>['AlertDelivery']['attempts'][number];

/** The outcome of one attempt. */
export type AttemptResult = Omit<Attempt, 'at'>;

export interface DeliveryLoop {
  /** Sends everything due now, and waits for it. Resolves with the number of attempts. */
  tick(): Promise<number>;
  /** Something may be due: checks soon instead of at the next tick. */
  kick(): void;
  /** Starts nothing more; attempts in progress continue. */
  drain(): void;
  /** Drains, and waits for attempts in progress. */
  stop(): Promise<void>;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Delay after the first, second ... failed attempt. */
const BACKOFF_MS = [
  ...[5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE],
  ...[HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR],
];
export const ATTEMPTS_MAX = BACKOFF_MS.length + 1;
/** Deliveries that failed together should not be retried together. */
const JITTER = 0.2;

/** Returns the time of the next attempt; null: that was the last one. @param attempts made so far */
export function computeNextAttempt(attempts: number, now: Date, random = Math.random()): Date | null {
  const backoffMs = BACKOFF_MS[attempts - 1];
  return backoffMs === undefined ? null : new Date(now.getTime() + Math.round(backoffMs * (1 + JITTER * random)));
}

export const deliveryToApi = (delivery: AlertDelivery) => ({
  ...toApiFields(delivery, 'id', 'alertId', 'channel', 'type', 'status', 'attempts', 'payload'),
  ...toApiFields(delivery, 'nextAttemptAt', 'createdAt', 'endedAt'),
});
