/** Code that has a client of Prisma uses its methods; SQL through it does what they cannot (ADR 70). */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { listServerFiles } from '../nested-scans/find-nested-scans';

const root = path.resolve(__dirname, '../../../..');

/** Locks, aggregates, recursion, set operations, settings, and rows chosen by a subquery. */
const BEYOND_PRISMA =
  /\bFOR (?:NO KEY )?(?:UPDATE|SHARE)\b|\bpg_advisory|\bset_config\b|\bcount\(|\bWITH\b|\bUNION\b|\bJOIN\b|\bON CONFLICT\b|\bIN \(\s*SELECT\b/;
/** Parts that other statements share: their names end in `Sql`, `Columns` or `Filter`. */
const SHARED_PART = /\$\{\w*(?:Sql|Columns|Filter)\(/;

const RAW = /\$(?:queryRaw|executeRaw)/;

function findPlainSql(text: string): string[] {
  if (!RAW.test(text)) return [];
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isTaggedTemplateExpression(node) && RAW.test(node.tag.getText())) {
      const sql = node.template.getText();
      if (!BEYOND_PRISMA.test(sql) && !SHARED_PART.test(sql)) found.push(sql);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('file.ts', text, ts.ScriptTarget.Latest, true));
  return found;
}

test('SQL through a client of Prisma does what its methods cannot', () => {
  const found = listServerFiles(root).flatMap((file) =>
    findPlainSql(readFileSync(path.join(root, file), 'utf8')).map((sql) => `${file}: ${sql}`),
  );
  expect(found).toEqual([]);
});

test('a statement for which Prisma has a method is found', () => {
  const run = (method: string, sql: string) => findPlainSql(`await db.$${method}\`${sql}\``);
  expect(run('queryRaw', 'SELECT id FROM alerts WHERE id = 1')).toHaveLength(1);
  expect(run('executeRaw', 'DELETE FROM alerts WHERE id = 1')).toHaveLength(1);
  expect(run('queryRaw<Row[]>', 'SELECT 1 FROM alerts WHERE id = 1 FOR UPDATE')).toEqual([]);
  expect(run('queryRaw<Row[]>', `SELECT $\{buildColumns(reader)} FROM libraries`)).toEqual([]);
});
