/**
 * Drops cached answers when a token is revoked, a membership changes, or a workspace goes or comes back.
 *
 * Every replica must hear it, so this is a plain subscription and no durable consumer: what is missed while NATS is away
 * is covered by the short life of the answers, and all are dropped when the connection comes back.
 */
import {
  type Bus,
  decode,
  type EventType,
  memberChanged,
  subjectOfAll,
  tokenRevoked,
  workspaceDeleted,
  workspaceRestored,
} from '@gantry/events';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { IdentityCache } from './identity-cache';

const envelope = z.object({ data: z.unknown() });

export function evictOnEvents(cache: IdentityCache, { bus, log }: { bus: Bus; log: Logger }): { stop(): void } {
  const hear = <T extends z.ZodType>(event: EventType<T>, act: (data: z.infer<T>) => void) =>
    bus.nc.subscribe(subjectOfAll(event), {
      callback: (error, message) => {
        try {
          if (error) throw error;
          act(event.data.parse(decode(envelope, message.data).data));
        } catch (err) {
          // What can't be read may have been a revocation.
          cache.clear();
          log.warn({ err, event: event.type }, 'unreadable event: forgot every cached identity');
        }
      },
    });
  const subscriptions = [
    hear(tokenRevoked, ({ tokenId }) => cache.evictToken(tokenId)),
    hear(memberChanged, ({ userId }) => cache.evictUser(userId)),
    hear(workspaceDeleted, ({ workspaceId }) => cache.evictWorkspace(workspaceId)),
    // Its members are not known by what is cached: they may not enter it there.
    hear(workspaceRestored, () => cache.clear()),
  ];
  void (async () => {
    for await (const status of bus.nc.status()) if (status.type === 'reconnect') cache.clear();
  })();
  return { stop: () => subscriptions.forEach((subscription) => void subscription.unsubscribe()) };
}
