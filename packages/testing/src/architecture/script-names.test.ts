/**
 * Scripts in JavaScript take functions by name from the TypeScript of services and packages, where no type check
 * follows a rename: each of these names is looked up in the source that the script's module is compiled from.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(__dirname, '../../../..');
const SCRIPT_DIRS = [
  'bench',
  'bench/measure',
  'packages/platform',
  'packages/deploy',
  'packages/api-docs',
  'packages/sdk',
];

/** `@gantry/x`, or the path of a file below `dist`. */
const MODULE = /@gantry\/[a-z-]+|(?:services|packages)\/[a-z-]+\/dist\/[\w/-]+\.js|\.\/dist\/[\w/-]+\.js/;
const DESTRUCTURED = /const \{ ([\w, ]+) \} = ([^;]+);/g;
const DEFAULT_IMPORT = /import (\w+) from '([^']+)'/g;

interface TakenName {
  source: string;
  name: string;
}

function listTakenNames(script: string, text: string): TakenName[] {
  // A constant with the folder of several modules.
  const dist = /const dist = '([^']+)'/.exec(text)?.[1] ?? '';
  const taken: TakenName[] = [];
  const add = (expression: string, names: string[]) => {
    const [specifier] = MODULE.exec(expression.replace(/\$\{dist\}/g, dist)) ?? [];
    if (!specifier) return;
    for (const name of names) taken.push({ source: toSource(script, specifier), name });
  };
  for (const [, names = '', expression = ''] of text.matchAll(DESTRUCTURED)) add(expression, names.split(', '));
  for (const [, local = '', specifier = ''] of text.matchAll(DEFAULT_IMPORT)) {
    add(specifier, [
      ...new Set([...text.matchAll(new RegExp(`\\b${local}\\.(\\w+)`, 'g'))].map(([, name = '']) => name)),
    ]);
  }
  return taken;
}

function toSource(script: string, specifier: string): string {
  if (specifier.startsWith('@gantry/')) return path.join(root, 'packages', specifier.slice(8), 'src/index.ts');
  const built = specifier.startsWith('.') ? path.join(path.dirname(script), specifier) : path.join(root, specifier);
  return built.replace('/dist/', '/src/').replace(/\.js$/, '.ts');
}

const taken = SCRIPT_DIRS.flatMap((dir) =>
  readdirSync(path.join(root, dir))
    .filter((file) => file.endsWith('.mjs'))
    .flatMap((file) => {
      const script = path.join(root, dir, file);
      return listTakenNames(script, readFileSync(script, 'utf8')).map((one) => ({ script: `${dir}/${file}`, ...one }));
    }),
);

test('every name that a script takes from compiled code exists', () => {
  expect(taken.length).toBeGreaterThan(15);
  const missing = taken.filter(({ source, name }) => !(name in require(source)));
  expect(missing.map(({ script, name }) => `${script}: ${name}`)).toEqual([]);
});
