/** Entries that other services announce: they were enqueued in the transaction of the change. */
import { auditRecorded, type Bus, type Consumer, consume } from '@gantry/events';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { insertAuditEntry } from './audit-entry';

export function consumeAuditEntries(options: { bus: Bus; pool: Pool; log: Logger }): Promise<Consumer> {
  return consume({
    ...options,
    service: 'worker-api',
    event: auditRecorded,
    handle: async (tx, { id, workspaceId, data }) => {
      const { source, actor, action, resource, details, address, userAgent, requestId, at } = data;
      await insertAuditEntry((sql, values) => tx.query(sql, values), {
        id,
        source,
        actor: { ...actor, address, userAgent, requestId },
        change: { workspaceId, action, resource, details },
        at: new Date(at),
      });
    },
  });
}
