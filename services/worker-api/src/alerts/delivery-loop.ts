/**
 * Sends due deliveries, on every replica.
 *
 * A claim is a lease: it schedules the delivery's next attempt after the longest that this one may take, so that a
 * delivery whose sender died is claimed again; the receiver may then get it twice, under the same `webhook-id`. An
 * attempt whose lease was lost records nothing. Attempts are counted when they begin, so a delivery that crashes its
 * process does so a bounded number of times.
 */
import { SYSTEM } from '@gantry/http';
import { type Sql, startWorkLoop, transaction, writeRow } from '@gantry/postgres';
import { Counter } from 'prom-client';
import { recordChange } from '../audit/audit-entry';
import type { AlertDeps } from './alert-deps';
import { ATTEMPT_MS_MAX, channelNames, channels } from './channels';
import type { ChannelDeps } from './channels/channel';
import { ATTEMPTS_MAX, type Attempt, type AttemptResult, computeNextAttempt, type DeliveryLoop } from './delivery';
import {
  type ClaimedDelivery,
  claimDeliveries,
  DELIVERIES_DUE_AT,
  deadLetterPendingDeliveries,
  recordAttempt,
} from './delivery-repository';
import { sendDelivery } from './send-delivery';

const LEASE_MS = 3 * ATTEMPT_MS_MAX;
/** Concurrent attempts of this replica. */
const IN_FLIGHT_MAX = 64;
/** Concurrent attempts of one alert: a slow receiver must not delay others. */
const IN_FLIGHT_PER_ALERT_MAX = 4;
/** Bounds the log of a delivery that is replayed again and again. */
const LOGGED_ATTEMPTS_MAX = 50;

const attemptsTotal = new Counter({
  name: 'gantry_alert_attempts_total',
  help: 'Attempts to deliver alerts',
  labelNames: ['channel', 'outcome'],
});
// An increase from nothing is none to Prometheus, and an alert watches this one.
for (const channel of channelNames) attemptsTotal.inc({ channel, outcome: 'dead' }, 0);

export type DeliveryLoopDeps = ChannelDeps & Pick<AlertDeps, 'pool' | 'log'>;

/** @param options.auto false: only explicit calls of `tick()` do anything */
export function startDeliveryLoop(deps: DeliveryLoopDeps, options: { auto: boolean }): DeliveryLoop {
  const { pool, now, log } = deps;
  const inFlight = new Set<ClaimedDelivery>();
  let startedCount = 0;

  /** Claims until no more are due, since a statement claims at most one delivery of each alert. */
  async function claimDueDeliveries(limit: number, signal: AbortSignal): Promise<ClaimedDelivery[]> {
    const claimed: ClaimedDelivery[] = [];
    try {
      while (claimed.length < limit && !signal.aborted) {
        const at = now();
        const deliveries = await claimDeliveries(pool, {
          now: at,
          leaseUntil: new Date(at.getTime() + LEASE_MS),
          limit: limit - claimed.length,
          exceptAlerts: listSaturatedAlerts(),
        });
        if (!deliveries.length) break;
        claimed.push(...deliveries);
        for (const delivery of deliveries) inFlight.add(delivery);
      }
    } catch (err) {
      log.warn({ err }, 'could not claim due alerts; will try again');
    }
    return claimed;
  }

  function listSaturatedAlerts(): string[] {
    const counts = new Map<string, number>();
    for (const { alertId } of inFlight) counts.set(alertId, (counts.get(alertId) ?? 0) + 1);
    return [...counts].filter(([, count]) => count >= IN_FLIGHT_PER_ALERT_MAX).map(([alertId]) => alertId);
  }

  const loop = startWorkLoop({
    pool,
    log,
    what: 'alerts',
    dueAt: DELIVERIES_DUE_AT,
    auto: options.auto,
    capacity: IN_FLIGHT_MAX,
    claim: claimDueDeliveries,
    work: async (delivery) => {
      startedCount++;
      await attemptDelivery(deps, delivery).catch((err) =>
        log.error({ err, deliveryId: delivery.id }, 'could not deliver an alert; its lease will expire'),
      );
      inFlight.delete(delivery);
    },
  });
  return {
    tick: async () => {
      const before = startedCount;
      await loop.tick();
      await loop.waitUntilIdle();
      return startedCount - before;
    },
    kick: loop.kick,
    drain: () => void loop.stop(),
    stop: loop.stop,
  };
}

async function attemptDelivery(deps: DeliveryLoopDeps, delivery: ClaimedDelivery): Promise<void> {
  const { pool, now, log } = deps;
  const startedAt = now();
  const sent = delivery.attemptsMade > ATTEMPTS_MAX ? INTERRUPTED_ATTEMPT : await sendDelivery(deps, delivery);
  const entry: Attempt = { at: startedAt.toISOString(), ...sent };
  const endedAt = now();
  const { gone } = channels[delivery.channel];
  const isGone = gone !== undefined && sent.status === gone.status;
  const next = sent.error === null || isGone ? null : computeNextAttempt(delivery.attemptsMade, endedAt);
  const status = sent.error === null ? 'delivered' : next === null ? 'dead' : 'pending';
  const outcome = {
    status,
    attempts: [...delivery.attempts, entry].slice(-LOGGED_ATTEMPTS_MAX),
    next,
    now: endedAt,
  } as const;
  attemptsTotal.inc({ channel: delivery.channel, outcome: status === 'pending' ? 'failed' : status });
  if (status === 'dead') log.warn({ deliveryId: delivery.id, error: sent.error }, 'alert not delivered: dead letter');
  await transaction(pool, async (tx) => {
    // In the lock order of edits: the alert before its deliveries.
    if (isGone) await tx.query('SELECT 1 FROM alerts WHERE id = $1 FOR UPDATE', [delivery.alertId]);
    await recordAttempt(tx, delivery, outcome);
    if (isGone) await disableAlert(tx, delivery, `${gone.reason} at ${endedAt.toISOString()}`, endedAt);
  });
}

/** Every attempt crashed its process. */
const INTERRUPTED_ATTEMPT: AttemptResult = {
  status: null,
  error: 'no attempt completed: each was interrupted before its outcome was known',
  duration_ms: 0,
  response: null,
};

async function disableAlert(
  tx: Sql,
  { alertId, workspaceId }: ClaimedDelivery,
  reason: string,
  at: Date,
): Promise<void> {
  const isDisabled = await writeRow(
    tx,
    'UPDATE alerts SET enabled = false, disabled_reason = $2, updated_at = $3 WHERE id = $1 AND enabled',
    [alertId, reason, at],
  );
  if (!isDisabled) return;
  await deadLetterPendingDeliveries(tx, alertId, channelNames, at);
  await recordChange(tx, SYSTEM, 'alert.disabled', { workspaceId, id: alertId }, { reason });
}
