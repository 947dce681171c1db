import type { OperationCall, PageCursor } from '@gantry/http';
import { deleteOldRows, listRows } from '@gantry/postgres';
import type { Pool } from 'pg';
import { AUDIT_COLUMNS, type AuditRow } from './audit-entry';

export type AuditQuery = OperationCall<'worker', 'exportAuditLog'>['query'];
export type AuditFilter = Pick<AuditQuery, 'actor_id' | 'action' | 'resource_type' | 'resource_id'> &
  Record<'since' | 'until', Date | undefined>;

/** Lists one page of a workspace's log. @param page.order `DESC` for newest first @param page.after in that order */
export async function listAuditRows(
  pool: Pool,
  workspaceId: string,
  filter: AuditFilter,
  page: { order: 'ASC' | 'DESC'; limit: number; offset?: number; after: PageCursor | null | undefined },
): Promise<AuditRow[]> {
  const { order, limit, after } = page;
  return listRows(
    pool,
    `SELECT ${AUDIT_COLUMNS.join(', ')} FROM audit_log
     WHERE workspace_id = $1
       AND ($2::text IS NULL OR actor_id = $2 OR actor_token_id = $2)
       AND ($3::text IS NULL OR action = $3)
       AND ($4::text IS NULL OR resource_type = $4)
       AND ($5::text IS NULL OR resource_id = $5)
       AND ($6::timestamptz IS NULL OR created_at >= $6)
       AND ($7::timestamptz IS NULL OR created_at < $7)
       AND ($8::timestamptz IS NULL OR (created_at, id) ${order === 'ASC' ? '>' : '<'} ($8, $9))
     ORDER BY created_at ${order}, id ${order} LIMIT $10 OFFSET $11`,
    [
      workspaceId,
      filter.actor_id ?? null,
      filter.action ?? null,
      filter.resource_type ?? null,
      filter.resource_id ?? null,
      filter.since?.toISOString() ?? null,
      filter.until?.toISOString() ?? null,
      after?.createdAt ?? null,
      after?.id ?? null,
      limit,
      page.offset ?? 0,
    ],
  );
}

/** Deletes expired entries; apart from that, entries are deleted only when their workspace is purged. */
export async function deleteOldAuditRows(pool: Pool, retentionDays: number): Promise<void> {
  await deleteOldRows(pool, 'audit_log', 'created_at < now() - make_interval(days => $1)', {
    values: [retentionDays],
    before: (tx) => tx.query("SET LOCAL gantry.audit_sweep = 'on'"),
  });
}
