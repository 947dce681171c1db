import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

type Run = (title: string, folder: string, argv: string[]) => Promise<void>;
const { buildForStart }: { buildForStart(root: string, run: Run): Promise<void> } = require('../build-for-start.mjs');

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'gantry-build-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function write(file: string, text: string): void {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
}

test('a start compiles the sources and the code generated from them, without tests, and an ES module can still be imported', async () => {
  write('packages/words/tsconfig.build.json', '{}');
  write('packages/words/src/words.ts', 'export type Word = string;\nexport const words: Word[] = ["one", "two"];\n');
  write('packages/dashboard/package.json', '{}');
  write('services/speaker/tsconfig.build.json', '{}');
  write('services/speaker/prisma.config.ts', '');
  write('services/speaker/only.mjs', 'export default "from an ES module";');
  write('services/speaker/src/main.test.ts', 'throw new Error();');
  write('services/speaker/src/test/fixture.ts', 'throw new Error();');
  write(
    'services/speaker/src/deep/main.ts',
    `import path from 'node:path';
     import { words, type Word } from '../../../../packages/words/dist/words';
     import { made } from '../generated/client';
     const said: Word[] = [...words, made, path.basename('/a/b')];
     import('../../only.mjs' as string).then((found) => console.log([...said, found.default].join()));`,
  );
  write(
    'services/speaker/outside.mjs',
    "import { words } from '../../packages/words/dist/words.js'; console.log(words.join());",
  );
  const titles: string[] = [];
  await buildForStart(root, async (title, folder) => {
    titles.push(title);
    if (title.startsWith('generating')) {
      expect(folder).toBe(path.join(root, 'services/speaker'));
      write('services/speaker/src/generated/client.ts', 'export const made: string = "generated";');
    }
  });
  expect(titles).toContain('generating the database client of speaker');
  const dist = path.join(root, 'services/speaker/dist');
  expect(
    execFileSync(process.execPath, [path.join(dist, 'deep/main.js')])
      .toString()
      .trim(),
  ).toBe('one,two,generated,b,from an ES module');
  expect(
    execFileSync(process.execPath, [path.join(dist, '../outside.mjs')])
      .toString()
      .trim(),
  ).toBe('one,two');
  expect(readdirSync(dist).sort()).toEqual(['deep', 'generated']);
});

test('a second build compiles only files saved since the first', async () => {
  write('services/idle/package.json', '{}');
  for (const name of ['changed', 'unchanged']) write(`packages/names/src/${name}.ts`, `export const name = '${name}';`);
  write('packages/names/tsconfig.build.json', '{}');
  await buildForStart(root, async () => {});
  const built = (name: string) => path.join(root, 'packages/names/dist', name);
  for (const name of ['changed.js', 'unchanged.js']) writeFileSync(built(name), '');
  const inAnHour = Date.now() / 1_000 + 3_600;
  utimesSync(path.join(root, 'packages/names/src/changed.ts'), inAnHour, inAnHour);
  const titles: string[] = [];
  await buildForStart(root, async (title) => void titles.push(title));
  expect(readFileSync(built('changed.js'), 'utf8')).toContain('changed');
  expect(readFileSync(built('unchanged.js'), 'utf8')).toBe('');
  expect(titles).not.toContain('building the dashboard');
});

test('files that do not compile are named', async () => {
  write('services/idle/package.json', '{}');
  write('packages/broken/tsconfig.build.json', '{}');
  write('packages/broken/src/broken.ts', 'const = ;');
  await expect(buildForStart(root, async () => {})).rejects.toThrow(/broken\.ts/);
});

test('there may be more files than a process may open', () => {
  write('services/idle/package.json', '{}');
  write('packages/many/tsconfig.build.json', '{}');
  const names = Array.from({ length: 500 }, (_, number) => `file-${number}`);
  for (const name of names) write(`packages/many/src/${name}.ts`, `export const name = '${name}';`);
  const script = 'require(process.argv[1]).buildForStart(process.argv[2], async () => {})';
  const args = [process.execPath, script, require.resolve('../build-for-start.mjs'), root];
  // Sets the hard limit too: Node.js raises the soft one.
  execFileSync('sh', ['-c', 'ulimit -n 250 && exec "$0" -e "$@"', ...args]);
  const dist = readdirSync(path.join(root, 'packages/many/dist'));
  expect(dist.filter((name) => name.endsWith('.js'))).toHaveLength(names.length);
});
