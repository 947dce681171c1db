/** What is sent to a receiver, how often it is tried, and how the API shows that. */
import type { AlertDelivery } from '../generated/prisma/client';

/** One try, as the log of attempts keeps it and the API shows it. */
export interface Attempt {
  at: string;
  /** Of HTTP; null for e-mail and where there was no answer. */
  status: number | null;
  /** Null: it was delivered. */
  error: string | null;
  duration_ms: number;
  /** How the receiver's answer begins. */
  response: string | null;
}

/** What came of sending something once. */
export type Sent = Omit<Attempt, 'at'>;

export interface DeliveryLoop {
  /** Sends all that is due now, and waits for it. Resolves with the number of attempts. */
  tick(): Promise<number>;
  /** Something may be due: looks soon, and not only at the next turn. */
  kick(): void;
  /** Begins nothing more; what is under way goes on. */
  drain(): void;
  /** Drains, and waits for what is under way. */
  stop(): Promise<void>;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** How long to wait after the first, second ... failed attempt. */
const BACKOFF_MS = [
  ...[5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE],
  ...[HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR],
];
export const ATTEMPTS_MAX = BACKOFF_MS.length + 1;
/** What waited together shall not come back together. */
const JITTER = 0.2;

/** Null: that was the last attempt. @param attempts made so far */
export function nextAttemptAt(attempts: number, now: Date, random = Math.random()): Date | null {
  const backoffMs = BACKOFF_MS[attempts - 1];
  return backoffMs === undefined ? null : new Date(now.getTime() + Math.round(backoffMs * (1 + JITTER * random)));
}

export function deliveryToApi(delivery: AlertDelivery) {
  return {
    id: delivery.id,
    alert_id: delivery.alertId,
    channel: delivery.channel,
    type: delivery.type,
    status: delivery.status,
    attempts: delivery.attempts,
    next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
    payload: delivery.payload,
    created_at: delivery.createdAt.toISOString(),
    ended_at: delivery.endedAt?.toISOString() ?? null,
  };
}
