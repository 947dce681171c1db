/** Tells services what another one would tell them, without that one. */
import { type Bus, buildEventSubject, connectBus, type EventType, encode, newId, type Service } from '@gantry/events';
import { pino } from 'pino';
import { setupResource } from './setup-resource';
import type { TestNats } from './test-nats';

export interface TestEventPublisher {
  /** Resolves when JetStream has stored it. */
  announce(event: EventType, workspaceId: string, data: Record<string, unknown>): Promise<void>;
  stop(): Promise<void>;
}

export async function startTestEventPublisher(
  nats: Pick<TestNats, 'as'>,
  service: Service = 'worker-api',
): Promise<TestEventPublisher> {
  const bus: Bus = await connectBus({
    ...nats.as(service),
    name: 'announcer',
    log: pino({ level: 'silent' }),
  });
  return {
    async announce(event, workspaceId, given) {
      const data = event.data.parse(given);
      const envelope = { id: newId('evt_'), workspaceid: workspaceId, time: new Date().toISOString(), data };
      await bus.js.publish(buildEventSubject(event, service), encode(envelope));
    },
    stop: () => bus.nc.close(),
  };
}

/** Before the tests of this file or `describe`, and until after them. */
export const setupTestEventPublisher = (
  resources: { nats: Pick<TestNats, 'as'> },
  service: Service = 'worker-api',
): TestEventPublisher =>
  setupResource(
    () => startTestEventPublisher(resources.nats, service),
    (announcer) => announcer.stop(),
  );
