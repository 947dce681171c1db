import type { Client } from 'pg';

/** Columns, constraints and indexes, one text for each; where a column stands in its table says nothing. */
export async function readShape(client: Client, tables = /^/): Promise<string[]> {
  const { rows } = await client.query<{ relation: string; part: string }>(`
    SELECT c.relname AS relation, concat_ws(' ', 'column', a.attname, format_type(a.atttypid, a.atttypmod),
        CASE WHEN a.attnotnull THEN 'not null' END, pg_get_expr(d.adbin, d.adrelid)) AS part
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
      WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
    UNION ALL
    SELECT c.relname, concat_ws(' ', 'constraint', k.conname, pg_get_constraintdef(k.oid))
      FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
    UNION ALL
    SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public'`);
  return rows
    .filter(({ relation }) => tables.test(relation))
    .map(({ relation, part }) => `${relation}: ${part}`)
    .sort();
}
