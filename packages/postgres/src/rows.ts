/** Statements whose result is rows, one row, or whether there is one. */
import type { QueryConfig, QueryResultRow } from 'pg';
import type { Sql } from './transaction';

export const listRows = async <Row extends QueryResultRow>(
  sql: Sql,
  query: string | QueryConfig,
  values?: unknown[],
): Promise<Row[]> => (await sql.query<Row>(query, values)).rows;

/** The first row; undefined where there is none. */
export const findRow = async <Row extends QueryResultRow>(
  sql: Sql,
  query: string | QueryConfig,
  values?: unknown[],
): Promise<Row | undefined> => (await sql.query<Row>(query, values)).rows[0];

export const hasRow = async (sql: Sql, query: string | QueryConfig, values?: unknown[]): Promise<boolean> =>
  Boolean((await sql.query(query, values)).rowCount);

/** The `id` of each row. */
export const listIds = async (sql: Sql, query: string | QueryConfig, values?: unknown[]): Promise<string[]> =>
  (await listRows<{ id: string }>(sql, query, values)).map(({ id }) => id);

/** Executes a statement that writes at most one row, such as a compare-and-set. @returns whether it wrote one */
export const writeRow = async (sql: Sql, query: string | QueryConfig, values?: unknown[]): Promise<boolean> =>
  (await sql.query(query, values)).rowCount === 1;

/** The number that the statement selects as `count`. */
export const loadCount = async (sql: Sql, query: string | QueryConfig, values?: unknown[]): Promise<number> =>
  (await findRow<{ count: number }>(sql, query, values))?.count ?? 0;
