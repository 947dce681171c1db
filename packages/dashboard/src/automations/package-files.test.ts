import { strToU8, zipSync } from 'fflate';
import { readPackage, type SelectedFile, unzipFiles, zipPackage } from './package-files';

const toChosenFile = (path: string, bytes: Uint8Array | string): SelectedFile => ({
  path,
  file: new File([bytes as BlobPart], path.split('/').at(-1) ?? ''),
});
const zip = (entries: Record<string, string | Uint8Array>): Uint8Array =>
  zipSync(
    Object.fromEntries(
      Object.entries(entries).map(([path, text]) => [path, typeof text === 'string' ? strToU8(text) : text]),
    ),
  );
const CODE = 'def run():\n    return {}\n';

test('a zip is read without its enclosing folder and without files that tools leave there', async () => {
  const bytes = zip({
    'report/main.py': CODE,
    'report/manifest.json': '{"name": "Report"}',
    'report/lib/__pycache__/prices.pyc': 'x',
    'report/lib/prices.py': 'ONE = 1\n',
    'report/logo.png': new Uint8Array([0x89, 0x50, 0, 0xff]),
    '__MACOSX/report/._main.py': 'x',
  });
  const files = await readPackage([toChosenFile('report.zip', bytes)]);
  expect([...files.keys()].sort()).toEqual(['lib/prices.py', 'logo.png', 'main.py', 'manifest.json']);
  expect(files.get('main.py')).toEqual({ text: CODE });
  expect(files.get('logo.png')).toEqual({ base64: 'iVAA/w==' });
});

test('a folder without a manifest gets one with the folder’s name', async () => {
  const files = await readPackage([toChosenFile('tidy-up/main.py', CODE), toChosenFile('tidy-up/.git/HEAD', 'ref')]);
  expect([...files.keys()]).toEqual(['main.py', 'manifest.json']);
  expect(JSON.parse((files.get('manifest.json') as { text: string }).text)).toEqual({
    name: 'tidy-up',
    inputs: [],
    outputs: [],
  });
});

test('files of a zip are unchanged, except for the manifest, which is sent separately', () => {
  const files = new Map([
    ['main.py', { text: 'print("ä")\n' }],
    ['data.bin', { base64: 'AAH/' }],
    ['manifest.json', { text: '{}' }],
  ]);
  const again = unzipFiles(zipPackage(files));
  files.delete('manifest.json');
  expect(again).toEqual(files);
});

test.each([
  ['no zip', toChosenFile('a.zip', 'not a zip'), 'This zip file can’t be read'],
  ['no code', toChosenFile('a.zip', zip({ 'readme.md': 'Hi' })), 'The package doesn’t contain any Python files'],
  [
    'too many files',
    toChosenFile('a.zip', zip(Object.fromEntries(Array.from({ length: 2_001 }, (_, at) => [`f${at}.py`, ''])))),
    'more than 2000 files',
  ],
  [
    'a bomb',
    toChosenFile('a.zip', zip({ 'main.py': CODE, 'zeros.bin': new Uint8Array(101 * 1024 * 1024) })),
    'larger than 100 MB',
  ],
])('%s is refused with an explanation', async (_, file, words) => {
  await expect(readPackage([file])).rejects.toThrow(words);
});
