import fs from 'node:fs';
import path from 'node:path';

const page = path.resolve(__dirname, '../../../docs/operations/configuration.md');
const VARIABLE = /`([A-Z][A-Z0-9_]+)`/g;

/**
 * The variables in the tables of these sections of docs/operations/configuration.md, in order.
 * @param sections their headings
 */
export function listDocumentedVariables(...sections: string[]): string[] {
  const parts = fs.readFileSync(page, 'utf8').split(/^## /m);
  const rows = sections.flatMap((section) => {
    const part = parts.find((one) => one.startsWith(`${section}\n`));
    if (!part) throw new Error(`${page} has no section ${section}`);
    return part.split('\n').filter((line) => line.startsWith('|'));
  });
  // A row may name more of its kind in its text: "also `OIDC_CLIENT_ID`".
  const listed = rows.flatMap((row) => {
    const [, names = ''] = row.split('|');
    const also = /\balso ((?:`[A-Z0-9_]+`(?:, )?)+)/.exec(row)?.[1] ?? '';
    return [...`${names} ${also}`.matchAll(VARIABLE)].map(([, name]) => name as string);
  });
  return listed.sort();
}
