import type { AppError } from '@gantry/errors';
import { applyFileEdits, computeVersionSha, type FileChange, fileToApi, listEntries } from './file-tree';

const start = applyFileEdits(
  [],
  [
    { path: 'main.py', content: 'print("ä")' },
    { path: 'data/logo.png', content_base64: Buffer.from([0, 255, 7]).toString('base64') },
  ],
);

function refusal(changes: FileChange[]): string {
  try {
    applyFileEdits(start, changes);
  } catch (err) {
    return (err as AppError).fields?.map(({ path, message }) => `${path} ${message}`).join('; ') ?? '';
  }
  return 'accepted';
}

test('changes write some files and keep the others', () => {
  const tree = applyFileEdits(start, [
    { path: 'main.py', content: 'pass' },
    { path: 'data/logo.png', delete: true },
    { path: 'a.txt', content: '' },
  ]);
  expect(tree.map(fileToApi)).toMatchObject([
    { path: 'a.txt', size: 0, content: '' },
    { path: 'main.py', size: 4, content: 'pass' },
  ]);
  expect(start.map(({ path }) => path)).toEqual(['data/logo.png', 'main.py']);
  expect(
    applyFileEdits(start, [
      { path: 'main.py', delete: true },
      { path: 'Main.py', content: '' },
    ]),
  ).toHaveLength(2);
});

test('text is shown as text and anything else as base64', () => {
  const [logo, main] = start.map(fileToApi);
  expect(main).toMatchObject({ content: 'print("ä")', size: 11 });
  expect(logo).toMatchObject({ content_base64: 'AP8H', size: 3 });
});

test.each<[string, FileChange[]]>([
  ['../up.py', [{ path: '../up.py', content: '' }]],
  ['is absolute', [{ path: '/etc/passwd', content: '' }]],
  ['backslash', [{ path: 'a\\b.py', content: '' }]],
  ['control character', [{ path: 'a\0.py', content: '' }]],
  ['not valid Unicode', [{ path: 'a\ud800.py', content: '' }]],
  ['is a directory', [{ path: 'lib/', content: '' }]],
  ['at an ignored path', [{ path: '.git/config', content: '' }]],
  ['are the same file on some systems', [{ path: 'MAIN.py', content: '' }]],
  ['is inside "main.py", which is a file', [{ path: 'main.py/x', content: '' }]],
  [
    'appears twice',
    [
      { path: 'x', content: '' },
      { path: 'x', content: '1' },
    ],
  ],
  ['does not exist', [{ path: 'x', delete: true }]],
  ['needs exactly one', [{ path: 'x' }]],
  ['needs exactly one', [{ path: 'x', content: '', content_base64: '' }]],
  ['is not valid base64', [{ path: 'x', content_base64: 'a*b' }]],
  ['must contain at most 500 files', Array.from({ length: 501 }, (_, n) => ({ path: `f${n}`, content: '' }))],
  ['larger than 10 MB', [{ path: 'x', content: 'x'.repeat(10 * 1024 * 1024) }]],
])('a change is refused because it %s', (why, changes) => {
  expect(refusal(changes)).toContain(why);
});

test('a version is named by its files and definition, in whatever order they come', () => {
  const entries = listEntries(start);
  const sha = computeVersionSha(entries, { a: 1, b: { c: 2, d: 3 } });
  expect(sha).toMatch(/^[0-9a-f]{64}$/);
  expect(computeVersionSha([...entries].reverse(), { b: { d: 3, c: 2 }, a: 1 })).toBe(sha);
  expect(computeVersionSha(entries, { a: 1, b: { c: 2, d: 4 } })).not.toBe(sha);
  expect(computeVersionSha(entries.slice(1), { a: 1, b: { c: 2, d: 3 } })).not.toBe(sha);
});
