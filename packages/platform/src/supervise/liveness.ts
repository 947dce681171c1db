/**
 * The processes that are probed for liveness, and when one counts as dead. `npm start` works by this table, and so does
 * every other way to run the platform: compose and Kubernetes restart by exit code and probe, as the launcher does.
 *
 * A process that answers is live, whatever else is down: a service without its database needs the database, not a
 * restart.
 */
import { setAlignedInterval } from '@gantry/env';
import { isHealthy, type Probe } from './probe';

/** In Kubernetes' words: `periodSeconds`, `timeoutSeconds`, `failureThreshold`. */
export const liveness = {
  everySeconds: 5,
  timeoutSeconds: 4,
  failures: 4,
  /** Time that a process may take to answer for the first time; doubled each time it does not. */
  startSeconds: 120,
  startSecondsMax: 960,
  /** From the request to end until SIGKILL: an event loop that is blocked hears no signal. */
  graceSeconds: 2,
} as const;

/** Probes by process. `port`: the variable of its environment or template that holds it. PostgreSQL is not probed. */
export const livenessProbes = {
  'worker-api': { port: 'PORT', paths: ['/healthz'] },
  'automation-api': { port: 'PORT', paths: ['/healthz'] },
  'skills-api': { port: 'PORT', paths: ['/healthz'] },
  executor: { port: 'METRICS_PORT', paths: ['/healthz'] },
  gateway: { port: 'GATEWAY_WORKER_PORT', paths: ['/gateway/healthz'] },
  // A file store that hangs since its disk was full leaves the greeting and the health of the server as they are, but
  // not the statistics of JetStream, which take its locks.
  nats: { port: 'monitoringPort', paths: ['/healthz', '/jsz'] },
} as const;

export type LivenessTiming = typeof livenessTiming;

export const livenessTiming = {
  everyMs: liveness.everySeconds * 1_000,
  timeoutMs: liveness.timeoutSeconds * 1_000,
  /** No answer for so long, and it is dead. */
  silenceMs: liveness.everySeconds * liveness.failures * 1_000,
  startMs: liveness.startSeconds * 1_000,
  startMsMax: liveness.startSecondsMax * 1_000,
  graceMs: liveness.graceSeconds * 1_000,
};

export type Watch = ReturnType<typeof watchLiveness>;

export interface WatchOptions {
  probe: Probe;
  timing: LivenessTiming;
  /** Time until the first answer must come. */
  startMs: number;
  /** Called once. */
  onSilent(silentMs: number): void;
}

/** Between two looks at the clock. */
const TICKS_PER_PROBE = 2;

/**
 * Time counts only while we run ourselves. Where a tick is late by more than one, the machine was suspended or is so
 * overloaded that an answer would not have been read either: that time does not count as silence, and the question is
 * asked again.
 */
export function watchLiveness({ probe, timing, startMs, onSilent }: WatchOptions) {
  const tickMs = timing.everyMs / TICKS_PER_PROBE;
  let hasAnswered = false;
  let silentMs = 0;
  let tickedAt = performance.now();

  async function sendProbe() {
    if (!(await isHealthy(probe, timing.timeoutMs))) return;
    hasAnswered = true;
    silentMs = 0;
  }

  const ticking = setAlignedInterval(() => {
    const now = performance.now();
    const elapsedMs = now - tickedAt;
    tickedAt = now;
    if (elapsedMs > 2 * tickMs) return void sendProbe();
    silentMs += elapsedMs;
    if (silentMs < (hasAnswered ? timing.silenceMs : startMs)) return;
    stop();
    onSilent(silentMs);
  }, tickMs);
  const probing = setAlignedInterval(sendProbe, timing.everyMs);
  void sendProbe();

  function stop() {
    ticking.stop();
    probing.stop();
  }

  return {
    /** Whether it has answered since the watch began. */
    hasAnswered: () => hasAnswered,
    stop,
  };
}
