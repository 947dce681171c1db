/** Stores entries that other services enqueued in the transaction of the change. */

import type { auditRecorded, EventHandlerFor } from '@gantry/events';
import type { AuditAction } from '@gantry/http';
import { insertAuditEntry } from './audit-entry';

export const storeAuditEntry: EventHandlerFor<typeof auditRecorded> = {
  name: 'audit',
  handle: async (tx, { id, workspaceId, data }) => {
    const { source, actor, action, resource, details, address, userAgent, requestId, at } = data;
    await insertAuditEntry(tx, {
      id,
      source,
      actor: { ...actor, address, userAgent, requestId },
      // The publisher types it as AuditedChange.
      change: { workspaceId, action: action as AuditAction, ...resource, details },
      at: new Date(at),
    });
  },
};
