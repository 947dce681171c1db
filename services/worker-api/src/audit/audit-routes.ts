import { callerOf, invalid, type Operations } from '@gantry/http';
import type { Request } from 'express';
import type { Pool } from 'pg';
import { written } from '../backpressure';
import { queryDate } from '../query-date';
import { type AuditRow, auditEntryToApi } from './audit-entry';
import { type AuditCursor, type AuditFilter, listAuditRows } from './audit-repository';
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
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      res.set('X-Has-More', String(rows.length > limit));
      if (rows.length > limit && last) res.set('Link', `<${nextPage(req, last)}>; rel="next"`);
      res.json(page.map(auditEntryToApi));
    },
    exportAuditLog: async (req, res) => {
      const isCsv = req.query.format !== 'ndjson';
      res.type(isCsv ? 'text/csv' : 'application/x-ndjson');
      res.set('Content-Disposition', `attachment; filename="audit-log.${isCsv ? 'csv' : 'ndjson'}"`);
      if (isCsv) res.write(csvLine([...CSV_COLUMNS]));
      const line = isCsv ? rowToCsv : (row: AuditRow) => `${JSON.stringify(auditEntryToApi(row))}\n`;
      let after: AuditCursor | undefined;
      for (let more = true; more && !res.destroyed; ) {
        const page = { order: 'ASC', limit: EXPORT_BATCH, after } as const;
        const rows = await listAuditRows(pool, callerOf(req).workspaceId, filterOf(req), page);
        await written(res, rows.map(line).join(''));
        const last = rows.at(-1);
        more = rows.length === EXPORT_BATCH;
        if (last) after = { createdAt: last.created_at.toISOString(), id: last.id };
      }
      res.end();
    },
  };
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const filterOf = ({ query }: Request): AuditFilter => ({
  actorId: textOf(query.actor_id),
  action: textOf(query.action),
  resourceType: textOf(query.resource_type),
  resourceId: textOf(query.resource_id),
  since: queryDate(query.since, 'since')?.toISOString(),
  until: queryDate(query.until, 'until')?.toISOString(),
});

function cursorOf({ query }: Request): AuditCursor | undefined {
  const createdAt = queryDate(query.before_created_at, 'before_created_at')?.toISOString();
  const id = textOf(query.before_id);
  if (createdAt === undefined && id === undefined) return undefined;
  if (createdAt === undefined || id === undefined) {
    throw invalid([
      {
        path: createdAt === undefined ? 'before_created_at' : 'before_id',
        message: 'before_created_at and before_id go together',
      },
    ]);
  }
  return { createdAt, id };
}

function nextPage(req: Request, last: AuditRow): string {
  const [path = '', query] = req.originalUrl.split('?', 2);
  const next = new URLSearchParams(query);
  next.set('before_created_at', last.created_at.toISOString());
  next.set('before_id', last.id);
  return `${path}?${next}`;
}

function rowToCsv(row: AuditRow): string {
  return csvLine(
    CSV_COLUMNS.map((column) => {
      const value = row[column];
      if (value instanceof Date) return value.toISOString();
      return value === null || typeof value === 'string' ? value : JSON.stringify(value);
    }),
  );
}
