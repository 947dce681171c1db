/** No loop in the code of services scans a list for each element unless something bounds their product. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expectSources } from '../architecture/expect-sources';
import { findNestedScans, findNestedScansInFile, type NestedScan } from './find-nested-scans';

const root = path.resolve(__dirname, '../../../..');

/** As `file:line: code`: scans that have no bound, and scans whose measurement no test has. */
function listProblems(scans: NestedScan[], measurements: string[]): string[] {
  const isMeasured = (entry: string) => measurements.some((text) => text.includes(`'${entry}`));
  return scans
    .filter(({ bound, measured }) => bound === null && (measured === null || !isMeasured(measured)))
    .map(({ file, line, code }) => `${file}:${line}: ${code}`);
}

test('every one in the sources is bounded with a reason, or measured', () => {
  const { files, scans } = findNestedScans(root);
  expectSources(files, { 'services/': 500, 'packages/': 200 });
  const measurements = readdirSync(path.join(root, 'services'))
    .map((service) => path.join(root, 'services', service, 'src/bounded-functions.test.ts'))
    .filter(existsSync)
    .map((file) => readFileSync(file, 'utf8'));
  expect(listProblems(scans, measurements)).toEqual([]);
});

test('an unbounded one is found in each of its forms, with its file and line', () => {
  const findProblems = (text: string) =>
    listProblems(findNestedScansInFile('a.ts', text), ["  ['parse: many', () => parse(b)],"]);
  const code = [
    'a.filter((x) => b.includes(x));',
    'for (const x of a) if (b.list.find((y) => y.id === x)) use(x);',
    'while (queue.length) take(queue.shift());',
    'do next(); while (rest.indexOf(mark) > 0);',
    'Array.from(a, (x) => Object.keys(b).some((y) => y === x));',
    'a.map((x) => [...b, ...c].indexOf(x));',
    'a.reduce((all, x) => [...all, x], []);',
    'a.reduce((all, x) => ({ ...all, [x]: 1 }), {});',
    'for (const x of a) all = [...all, x];',
    'for await (const x of a) state.rest = Buffer.concat([state.rest, x]);',
    'a.map((x) => new Set(b).has(x));',
    'for (const x of a) for (const y of x.list) if (x.seen.includes(y)) use(y);',
  ];
  expect(findProblems(code.join('\n'))).toEqual([
    'a.ts:1: b.includes(x)',
    'a.ts:2: b.list.find((y) => y.id === x)',
    'a.ts:3: queue.shift()',
    'a.ts:4: rest.indexOf(mark)',
    'a.ts:5: Object.keys(b).some((y) => y === x)',
    'a.ts:6: [...b, ...c].indexOf(x)',
    'a.ts:7: ...all',
    'a.ts:8: ...all',
    'a.ts:9: all = [...all, x]',
    'a.ts:10: state.rest = Buffer.concat([state.rest, x])',
    'a.ts:11: new Set(b)',
    'a.ts:12: x.seen.includes(y)',
  ]);
});

test('a bounded, measured or fixed-size one is no problem, and an unknown measurement is one', () => {
  const code = [
    "import { names } from './names';",
    "const KINDS = ['a', 'b'];",
    '// Bounded: ten names, which the schema checks.',
    'a.filter((x) => b.includes(x));',
    '// Measured: parse',
    'a.filter((x) => b.includes(x));',
    '// Measured: format',
    'a.filter((x) => c.includes(x));',
    'a.filter((x) => KINDS.includes(x) || names.includes(x) || x.list.includes(1));',
    'KINDS.filter((x) => b.includes(x));',
    "for (const x of ['a', 'b']) if (b.includes(x)) use(x);",
    'for (const x of b.filter(Boolean)) use(x);',
    'const known = new Set(b); a.filter((x) => known.has(x));',
  ];
  const scans = findNestedScansInFile('a.ts', code.join('\n'));
  expect(listProblems(scans, ["  ['parse: many', () => parse(b)],"])).toEqual(['a.ts:8: c.includes(x)']);
});
