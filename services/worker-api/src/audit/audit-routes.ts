import { callerOf, type Operations } from '@gantry/http';
import type { Request } from 'express';
import type { Pool } from 'pg';
import { written } from '../backpressure';
import { cursorOf, linkFrom, type PageCursor } from '../page-cursor';
import { queryDate } from '../query-date';
import { type AuditRow, auditEntryToApi } from './audit-entry';
import { type AuditFilter, listAuditRows } from './audit-repository';
import { csvLine } from './csv';

/** A page of an export: at most this many rows are in memory, whatever the length of the log. */
const EXPORT_BATCH = 1_000;

const CSV_COLUMNS = [
  'id',
  'created_at',
  'actor_kind',
  'actor_id',
  'actor_label',
  'actor_token_id',
  'action',
  'resource_type',
  'resource_id',
  'details',
  'address',
  'user_agent',
  'request_id',
  'source',
] as const;

export function auditOperations({ pool }: { pool: Pool }): Operations {
  return {
    listAuditLog: async (req, res) => {
      const limit = Number(req.query.limit);
      const rows = await listAuditRows(pool, callerOf(req).workspaceId, filterOf(req), {
        order: 'DESC',
        limit: limit + 1,
        after: cursorOf(req),
      });
      linkFrom(req, res, rows.length > limit ? cursorAt(rows[limit - 1]) : null);
      res.json(rows.slice(0, limit).map(auditEntryToApi));
    },
    exportAuditLog: async (req, res) => {
      const isCsv = req.query.format !== 'ndjson';
      res.type(isCsv ? 'text/csv' : 'application/x-ndjson');
      res.set('Content-Disposition', `attachment; filename="audit-log.${isCsv ? 'csv' : 'ndjson'}"`);
      if (isCsv) res.write(csvLine([...CSV_COLUMNS]));
      const line = isCsv ? rowToCsv : (row: AuditRow) => `${JSON.stringify(auditEntryToApi(row))}\n`;
      let after: PageCursor | null = null;
      for (let more = true; more && !res.destroyed; ) {
        const page = { order: 'ASC', limit: EXPORT_BATCH, after } as const;
        const rows = await listAuditRows(pool, callerOf(req).workspaceId, filterOf(req), page);
        await written(res, rows.map(line).join(''));
        more = rows.length === EXPORT_BATCH;
        after = cursorAt(rows.at(-1));
      }
      res.end();
    },
  };
}

const cursorAt = (row: AuditRow | undefined): PageCursor | null =>
  row ? { createdAt: row.created_at, id: row.id } : null;

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const filterOf = ({ query }: Request): AuditFilter => ({
  actorId: textOf(query.actor_id),
  action: textOf(query.action),
  resourceType: textOf(query.resource_type),
  resourceId: textOf(query.resource_id),
  since: queryDate(query.since, 'since')?.toISOString(),
  until: queryDate(query.until, 'until')?.toISOString(),
});

function rowToCsv(row: AuditRow): string {
  return csvLine(
    CSV_COLUMNS.map((column) => {
      const value = row[column];
      if (value instanceof Date) return value.toISOString();
      return value === null || typeof value === 'string' ? value : JSON.stringify(value);
    }),
  );
}
