/**
 * Checks whether a consumer has acknowledged everything that JetStream can still deliver.
 *
 * A server that is killed may count messages as unacknowledged forever after its restart: they were acknowledged and
 * removed, but the consumer's state was written before (seen with 2.9.10). It delivers none of them, although replicas
 * wait for messages. Acknowledged messages that such a server restores stay in the stream until they expire, and are
 * ignored here.
 */
import { performance } from 'node:perf_hooks';
import type { Bus } from './bus';
import { ACK_WAIT_MS } from './streams';

/** Every ACK_WAIT_MS an unacknowledged message is delivered again, which counts as another delivery. */
const UNDELIVERABLE_AFTER_MS = 3 * ACK_WAIT_MS;

export function createBacklogMonitor(
  { bus, stream, durable }: { bus: Bus; stream: string; durable: string },
  undeliverableAfterMs = UNDELIVERABLE_AFTER_MS,
) {
  let seen = { deliveries: -1, unacknowledged: -1, since: 0 };

  return {
    async isConsumed(): Promise<boolean> {
      const manager = await bus.nc.jetstreamManager({ checkAPI: false });
      const info = await manager.consumers.info(stream, durable);
      const { num_pending: undelivered, num_ack_pending: unacknowledged, num_waiting: waiting } = info;
      if (undelivered) return false;
      if (!unacknowledged) return true;
      const deliveries = info.delivered.consumer_seq;
      if (seen.deliveries !== deliveries || seen.unacknowledged !== unacknowledged) {
        seen = { deliveries, unacknowledged, since: performance.now() };
      }
      return waiting > 0 && performance.now() - seen.since >= undeliverableAfterMs;
    },
  };
}
