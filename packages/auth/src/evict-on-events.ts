/**
 * Cache invalidation when a token is revoked, a membership changes, or a workspace is deleted or restored.
 *
 * Every replica must receive it, so this is a plain subscription and not a durable consumer: the short TTL covers
 * events missed while NATS is down, and after it has reconnected each identity is looked up again with its next use.
 * It is not evicted: worker-api, which answers, may reconnect later.
 */
import {
  type Bus,
  buildEventSubjectPattern,
  decode,
  type EventType,
  memberChanged,
  tokenRevoked,
  workspaceDeleted,
  workspaceRestored,
} from '@gantry/events';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { IdentityCache } from './identity-cache';

const envelope = z.object({ data: z.unknown() });

export function subscribeEvictions(cache: IdentityCache, { bus, log }: { bus: Bus; log: Logger }): { stop(): void } {
  const subscribe = <T extends z.ZodType>(event: EventType<T>, handle: (data: z.infer<T>) => void) =>
    bus.nc.subscribe(buildEventSubjectPattern(event), {
      callback: (error, message) => {
        try {
          if (error) throw error;
          handle(event.data.parse(decode(envelope, message.data).data));
        } catch (err) {
          // An unreadable event may have been a revocation.
          cache.clear();
          log.warn({ err, event: event.type }, 'could not read an event; cleared the identity cache');
        }
      },
    });
  const subscriptions = [
    subscribe(tokenRevoked, ({ tokenId }) => cache.evictToken(tokenId)),
    subscribe(memberChanged, ({ userId }) => cache.evictUser(userId)),
    subscribe(workspaceDeleted, ({ workspaceId }) => cache.evictWorkspace(workspaceId)),
    // Cached identities lack the workspace, so its members cannot be evicted individually.
    subscribe(workspaceRestored, () => cache.clear()),
  ];
  void (async () => {
    for await (const status of bus.nc.status()) if (status.type === 'reconnect') cache.renewAll();
  })();
  return { stop: () => subscriptions.forEach((subscription) => void subscription.unsubscribe()) };
}
