/**
 * boundaries.cjs is what the rules enforce, what package.json files declare and what newcomers read in
 * ARCHITECTURE.md.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { createTemporaryDir } from './run-dir';

const root = path.resolve(__dirname, '../../..');
const SCOPE = '@gantry/';
const RULES = '.dependency-cruiser.cjs';
const FOLDER_RULES = '.dependency-cruiser.folders.cjs';

const { PACKAGES, WINGS } = require(path.join(root, 'boundaries.cjs')) as {
  PACKAGES: Record<string, string[]>;
  WINGS: Record<string, { folders: string[]; mayImport: string[] }>;
};
const architecture = fs.readFileSync(path.join(root, 'ARCHITECTURE.md'), 'utf8');

const parseWords = (cell = ''): string[] => (cell.match(/[a-z-]+/g) ?? []).sort();
const toSorted = (names: string[]): string[] => [...names].sort();

/** The packages that a package declares, which are all that pnpm lets it import. Tests may use more. */
function listDeclaredDependencies(folder: string): string[] {
  const { dependencies = {} } = JSON.parse(fs.readFileSync(path.join(root, folder, 'package.json'), 'utf8'));
  return Object.keys(dependencies).flatMap((name) => (name.startsWith(SCOPE) ? [name.slice(SCOPE.length)] : []));
}

const folders = ['packages', 'services'].flatMap((group) =>
  fs
    .readdirSync(path.join(root, group))
    .map((name) => `${group}/${name}`)
    .filter((folder) => fs.existsSync(path.join(root, folder, 'package.json'))),
);

test.each(folders)('%s declares, and shows in ARCHITECTURE.md, what the boundaries allow', (folder) => {
  const row = new RegExp(`^\\| \`${folder}\` \\|.*\\|([^|]*)\\|$`, 'm').exec(architecture);
  const allowed = toSorted(PACKAGES[folder] ?? ['not listed']);
  expect({ declared: toSorted(listDeclaredDependencies(folder)), shown: parseWords(row?.[1]) }).toEqual({
    declared: allowed,
    shown: allowed,
  });
});

test('the boundaries name only packages that exist', () => {
  expect(Object.keys(PACKAGES).filter((folder) => !folders.includes(folder))).toEqual([]);
});

test('ARCHITECTURE.md shows the wings of worker-api as the boundaries define them', () => {
  const table = architecture.slice(architecture.indexOf('| Wing |'));
  const rows = table.slice(0, table.indexOf('\n\n')).split('\n').slice(2);
  const shown = rows.map((row) => row.split('|').slice(1, 4).map(parseWords));
  expect(shown).toEqual(
    Object.entries(WINGS).map(([wing, { folders: own, mayImport }]) => [[wing], toSorted(own), toSorted(mayImport)]),
  );
});

test('every folder of worker-api belongs to a wing', () => {
  const source = path.join(root, 'services/worker-api/src');
  const own = fs
    .readdirSync(source, { withFileTypes: true })
    .flatMap((entry) => (entry.isDirectory() ? entry.name : []));
  const inWings = Object.values(WINGS).flatMap((wing) => wing.folders);
  expect(own.filter((name) => !['generated', 'test'].includes(name)).sort()).toEqual(inWings.sort());
});

/** `<rule>: <file or folder>` for each violation in a tree of these files. */
function violations(config: string, files: Record<string, string>): string[] {
  const tree = createTemporaryDir('planted');
  for (const name of ['tsconfig.base.json', 'tsconfig.boundaries.json']) {
    fs.copyFileSync(path.join(root, name), path.join(tree, name));
  }
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.join(tree, path.dirname(name)), { recursive: true });
    fs.writeFileSync(path.join(tree, name), text);
  }
  const cruise = path.join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const argv = [cruise, '--config', path.join(root, config), '--output-type', 'json', 'packages', 'services'];
  const { summary } = JSON.parse(execFileSync(process.execPath, argv, { cwd: tree, encoding: 'utf8' }));
  return summary.violations.map(({ rule, from }: { rule: { name: string }; from: string }) => `${rule.name}: ${from}`);
}

const thingFrom = (where: string): string => `export { thing } from '${where}';\n`;
const THING = 'export const thing = 1;\n';
const WORKER_API = 'services/worker-api/src';

test('the rules resolve names of packages, and find every forbidden import', () => {
  const allowed = {
    'packages/events/src/index.ts': THING,
    'packages/run-engine/src/index.ts': THING,
    'packages/testing/src/index.ts': THING,
    'services/skills-api/src/thing.ts': THING,
    [`${WORKER_API}/runs/run.ts`]: thingFrom('@gantry/run-engine'),
    [`${WORKER_API}/starters/start.ts`]: thingFrom('../runs/run'),
    'services/skills-api/src/skills/skill.ts': THING,
    'services/skills-api/src/deps.ts': "export type { thing } from './skills/skill';\n",
    [`${WORKER_API}/app.ts`]: thingFrom('./runs/run'),
  };
  const planted = {
    'packages/http/src/index.ts': thingFrom('@gantry/run-engine'),
    'packages/surprise/src/index.ts': thingFrom('@gantry/events'),
    [`${WORKER_API}/main.ts`]: thingFrom('../../skills-api/src/thing'),
    [`${WORKER_API}/runs/run.test.ts`]: thingFrom('../../../skills-api/src/thing'),
    [`${WORKER_API}/housekeeping.ts`]: thingFrom('@gantry/testing'),
    [`${WORKER_API}/accounts/user.ts`]: thingFrom('../runs/run'),
    [`${WORKER_API}/page-cursor.ts`]: thingFrom('./runs/run'),
    [`${WORKER_API}/deps.ts`]: "export type { thing } from './runs/run';\n",
    [`${WORKER_API}/alerts/alert.ts`]: thingFrom('../app'),
  };
  expect(violations(RULES, { ...allowed, ...planted }).sort()).toEqual([
    `folders-of-a-service-know-no-wiring: ${WORKER_API}/alerts/alert.ts`,
    'not-listed-in-boundaries: packages/surprise/src/index.ts',
    'packages-http-imports-what-it-may: packages/http/src/index.ts',
    `services-worker-api-imports-what-it-may: ${WORKER_API}/housekeeping.ts`,
    `services-worker-api-imports-what-it-may: ${WORKER_API}/main.ts`,
    `shared-files-of-a-service-know-no-folder: ${WORKER_API}/page-cursor.ts`,
    `shared-files-of-worker-api-take-no-types-of-folders: ${WORKER_API}/deps.ts`,
    `tests-of-services-worker-api-import-what-they-may: ${WORKER_API}/runs/run.test.ts`,
    `worker-api-accounts: ${WORKER_API}/accounts/user.ts`,
  ]);
});

test('two folders that import each other are found, even if no two files do', () => {
  const files = {
    'packages/http/src/a/one.ts': thingFrom('../b/one'),
    'packages/http/src/b/one.ts': THING,
    'packages/http/src/b/two.ts': thingFrom('../a/two'),
    'packages/http/src/a/two.ts': THING,
    'services/worker-api/src/main.ts': THING,
  };
  expect(violations(FOLDER_RULES, files).sort()).toEqual([
    'folders-have-no-cycles: packages/http/src/a',
    'folders-have-no-cycles: packages/http/src/b',
  ]);
});
