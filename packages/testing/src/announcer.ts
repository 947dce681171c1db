/** Tells services what another one would tell them, without that one. */
import { type Bus, connectBus, type EventType, encode, eventSubject, newId, type Service } from '@gantry/events';
import { pino } from 'pino';
import { setupResource } from './given';
import type { TestNats } from './test-nats';

export interface Announcer {
  /** Resolves when JetStream has stored it. */
  announce(event: EventType, workspaceId: string, data: Record<string, unknown>): Promise<void>;
  stop(): Promise<void>;
}

export async function startAnnouncer(nats: Pick<TestNats, 'as'>, service: Service = 'worker-api'): Promise<Announcer> {
  const bus: Bus = await connectBus({
    ...nats.as(service),
    name: 'announcer',
    log: pino({ level: 'silent' }),
  });
  return {
    async announce(event, workspaceId, given) {
      const data = event.data.parse(given);
      const envelope = { id: newId('evt_'), workspaceid: workspaceId, time: new Date().toISOString(), data };
      await bus.js.publish(eventSubject(event, service), encode(envelope));
    },
    stop: () => bus.nc.close(),
  };
}

/** Before the tests of this file or `describe`, and until after them. */
export const setupAnnouncer = (told: { nats: Pick<TestNats, 'as'> }, service: Service = 'worker-api'): Announcer =>
  setupResource(
    () => startAnnouncer(told.nats, service),
    (announcer) => announcer.stop(),
  );
