/** Ids and secrets come from the kernel's random numbers, and secrets are compared in constant time. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(__dirname, '../../..');
const SKIPPED = /^(node_modules|dist|generated|test)$/;
const SOURCE = /\.(ts|tsx|mjs|cjs|mts|py)$/;
const TEST = /\.test\.tsx?$/;

/** By path from the root. */
function sources(dir: string): string[] {
  return readdirSync(path.join(root, dir), { withFileTypes: true }).flatMap((entry) => {
    const name = path.join(dir, entry.name);
    if (entry.isDirectory()) return SKIPPED.test(entry.name) ? [] : sources(name);
    return SOURCE.test(entry.name) && !TEST.test(entry.name) ? [name] : [];
  });
}

const files = ['services', 'packages', 'examples'].flatMap(sources);

/** Lines that match, as `file: line`. */
const findLines = (pattern: RegExp, names = files): string[] =>
  names.flatMap((name) =>
    readFileSync(path.join(root, name), 'utf8')
      .split('\n')
      .filter((line) => pattern.test(line))
      .map((line) => `${name}: ${line.trim()}`),
  );

const GUESSABLE = /Math\.random\(|^\s*(import|from) random\b/;
/** Files in which randomness only spreads retries and elections over time: guessing it gains nothing. */
const JITTER = [
  'packages/cli/python/client.py',
  'packages/dashboard/src/shell/live/change-subscriber.tsx',
  'packages/dashboard/src/shell/live/shared-changes.ts',
  'packages/dashboard/src/shell/stream-slots.ts',
  'packages/sdk/src/sleep.ts',
  'packages/testing/jest/delay-reads.cjs',
  'services/executor/src/protocol/claim-loop.ts',
  'services/worker-api/src/alerts/delivery.ts',
];

const SECRET = String.raw`(\w*(token|secret|signature|nonce|password|userCode|hash|hmac))`;
const LEAKY = new RegExp(
  `\\b${SECRET}\\)? (===|!==) (?!null|undefined|'|"|\`|true|false)|(===|!==) ([\\w.]+\\.)?${SECRET}(?![\\w.(])`,
  'i',
);
const OPEN = [
  // Both come from the caller: two headers that must agree.
  'packages/auth/src/credential.ts',
  // The request that one principal sent with the same key before.
  'packages/limits/src/idempotency.ts',
  // A number that is looked for in logs, against itself.
  'packages/masking/src/redact.ts',
  // Hashes of texts that their reader has.
  'services/worker-api/src/workers/known-skills.ts',
  'services/worker-api/src/workers/pinned-skill.ts',
];

test('only delays use a predictable generator', () => {
  expect(files.length).toBeGreaterThan(300);
  expect(findLines(GUESSABLE).filter((line) => !JITTER.some((name) => line.startsWith(`${name}:`)))).toEqual([]);
});

test('no secret is compared with ===', () => {
  expect(findLines(LEAKY).filter((line) => !OPEN.some((name) => line.startsWith(`${name}:`)))).toEqual([]);
});

test.each([
  ['a guessable id', GUESSABLE, 'const id = Math.random().toString(36);'],
  ['a guessable id in Python', GUESSABLE, 'import random'],
  ['a token that is compared', LEAKY, 'if (token === row.token) return row;'],
  ['a code that is compared', LEAKY, 'if (normalise(typed) !== request.userCode) throw wrong();'],
  ['a hash that is compared', LEAKY, 'return stored.token_hash === hashed;'],
])('%s is detected', (_what, pattern, line) => {
  expect(pattern.test(line)).toBe(true);
});
