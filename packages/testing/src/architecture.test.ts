/** The map that newcomers read says what is so. */
import fs from 'node:fs';
import path from 'node:path';

const root = path.resolve(__dirname, '../../..');
const SCOPE = '@gantry/';

/** `May import` by folder, of the rows that name packages. */
function allowed(): Map<string, string[]> {
  const rows = fs
    .readFileSync(path.join(root, 'ARCHITECTURE.md'), 'utf8')
    .matchAll(/^\| `((?:packages|services)\/[a-z-]+)` \|.*\|([^|]*)\|$/gm);
  return new Map([...rows].map(([, folder = '', names = '']) => [folder, names.match(/[a-z-]+/g) ?? []]));
}

/** What a package declares, and pnpm therefore lets it import. Tests may use more. */
function declared(folder: string): string[] {
  const { dependencies = {} } = JSON.parse(fs.readFileSync(path.join(root, folder, 'package.json'), 'utf8'));
  return Object.keys(dependencies).flatMap((name) => (name.startsWith(SCOPE) ? [name.slice(SCOPE.length)] : []));
}

const folders = ['packages', 'services'].flatMap((group) =>
  fs
    .readdirSync(path.join(root, group))
    .map((name) => `${group}/${name}`)
    .filter((folder) => fs.existsSync(path.join(root, folder, 'package.json'))),
);

test.each(folders)('%s imports what ARCHITECTURE.md allows, no less and no more', (folder) => {
  const names = allowed().get(folder);
  if (folder === 'packages/testing') return expect(names).toEqual([]);
  if (names?.join() === 'packages') return expect(declared(folder)).not.toContain('testing');
  expect([folder, declared(folder).sort()]).toEqual([folder, names?.sort()]);
});
