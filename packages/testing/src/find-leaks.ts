/** Looks for a secret in everything that a platform keeps and tells. */
import type { Pool } from 'pg';

/** The secret as it is, in a URL, in JSON, in base64 (alone, or behind other bytes) and in bytes that are shown. */
function listSecretEncodings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    secret.slice(0, Math.ceil(secret.length / 2)),
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    bytes.toString('hex'),
    ...[0, 1, 2].map((before) => {
      const whole = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
      return whole.slice(4, -4);
    }),
  ];
}

/** The first occurrence of each form of the secret, with the text around it. */
export const findLeaks = (secret: string, text: string): string[] =>
  listSecretEncodings(secret).flatMap((form) => {
    const at = text.indexOf(form);
    return at < 0 ? [] : [text.slice(Math.max(0, at - 100), at + 100)];
  });

/** The rows of every table, as text. */
export async function dumpTables(pool: Pool): Promise<string> {
  const found: string[] = [];
  const tables = await pool.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
  for (const { tablename } of tables.rows) {
    const { rows } = await pool.query(`SELECT t::text AS row FROM "${tablename}" t`);
    found.push(tablename, ...rows.map(({ row }) => row));
  }
  return found.join('\n');
}
