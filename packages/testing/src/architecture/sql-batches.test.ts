/** A statement that claims a batch of rows computes it once: `= ANY(ARRAY(SELECT … FOR UPDATE))`. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { listServerFiles } from '../nested-scans/find-nested-scans';

const root = path.resolve(__dirname, '../../../..');

/**
 * Finds subqueries of `IN` that lock rows. A plan made for a small table runs them again for each of its rows, where
 * they take other rows: more than their limit, and in quadratic time.
 */
function findRepeatedClaims(text: string): string[] {
  const subqueries = [...text.matchAll(/\bIN \((?=\s*SELECT\b)/g)].map(({ index, 0: start }) =>
    text.slice(index + start.length, findClosing(text, index + start.length)),
  );
  return subqueries.filter((subquery) => subquery.includes('FOR UPDATE'));
}

/** Finds the parenthesis that closes the one before `from`. */
function findClosing(text: string, from: number): number {
  let depth = 1;
  for (let at = from; at < text.length; at++) {
    if (text[at] === '(') depth++;
    else if (text[at] === ')' && --depth === 0) return at;
  }
  return text.length;
}

test('no statement of a service claims rows by IN', () => {
  const found = listServerFiles(root).flatMap((file) =>
    findRepeatedClaims(readFileSync(path.join(root, file), 'utf8')).map((subquery) => `${file}: ${subquery}`),
  );
  expect(found).toEqual([]);
});

test('one that does is found', () => {
  expect(
    findRepeatedClaims('WHERE id IN (\n SELECT id FROM t WHERE (a) LIMIT $1 FOR UPDATE SKIP LOCKED)'),
  ).toHaveLength(1);
  expect(findRepeatedClaims('WHERE id IN (SELECT id FROM t WHERE (a)) FOR UPDATE')).toEqual([]);
  expect(findRepeatedClaims('WHERE id = ANY(ARRAY(SELECT id FROM t FOR UPDATE))')).toEqual([]);
});
