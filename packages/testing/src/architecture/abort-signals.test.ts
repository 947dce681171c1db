/**
 * A combined signal refers to its sources weakly: in Node.js 20, garbage collection takes a timeout that has no listener
 * of its own, and the limit never ends anything.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { listSources } from '../naming/find-unidiomatic-names';

const root = path.resolve(__dirname, '../../../..');

const losesTimeout = (text: string): boolean =>
  ['AbortSignal.any(', 'AbortSignal.timeout('].every((call) => text.includes(call)) &&
  !text.includes(".addEventListener('abort'");

test('every timeout that a signal is combined with is kept', () => {
  const files = ['services', 'packages'].flatMap((dir) => listSources(root, dir));
  const known = ['services/worker-api/src/models/time-limit.ts', 'packages/cli/src/commands/listen.ts'];
  expect(files).toEqual(expect.arrayContaining(known));
  expect(files.filter((file) => losesTimeout(readFileSync(path.join(root, file), 'utf8')))).toEqual([]);
});

test('one that is lost is found', () => {
  const lost = 'const signal = AbortSignal.any([AbortSignal.timeout(5), ending]);';
  expect(losesTimeout(lost)).toBe(true);
  expect(losesTimeout(`timeout.addEventListener('abort', () => {}); ${lost}`)).toBe(false);
});
