/**
 * The build of `npm start` and `npm test`: JavaScript without type declarations, nothing type-checked. `turbo run
 * build` makes the same files, and more; either may follow the other.
 */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const OPTIONS = {
  swcrc: false,
  configFile: false,
  jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
  // As tsc does it: an import() stays one, for packages that are ES modules; and those find the names that a file
  // exports.
  module: { type: 'commonjs', ignoreDynamic: true, exportInteropAnnotation: true },
  sourceMaps: true,
};

/** Files compiled at once: some container builds allow a process only 1,024 open files. */
const OPEN_FILES_MAX = 64;

/**
 * Does again what is older than its sources, this file or the lockfile, as make does.
 * @param run the title, the folder and the command line of a process; rejects where that fails
 */
export async function buildForStart(root, run) {
  const tools = getNewestMtime(fileURLToPath(import.meta.url), path.join(root, 'pnpm-lock.yaml'));
  const compiled = listCompiledProjects(root);
  const stale = compiled.flatMap((project) =>
    listSources(project)
      .filter(
        (file) =>
          getNewestMtime(getOutputPath(project, file)) <
          Math.max(tools, getNewestMtime(path.join(project, 'src', file))),
      )
      .map((file) => [project, file]),
  );
  await compileFiles(stale);

  const steps = [
    createDashboardStep(root),
    createCliStep(root),
    createOpenApiStep(root),
    ...compiled.filter((project) => fs.existsSync(path.join(project, 'prisma.config.ts'))).map(createPrismaClientStep),
  ];
  await Promise.all(
    steps
      .filter(({ marker, inputs }) => getNewestMtime(marker) < Math.max(tools, getNewestMtime(...inputs)))
      .map(async ({ marker, build }) => {
        // Read before the work: a source that is saved during it is newer.
        const startedAt = new Date();
        await build(run);
        fs.mkdirSync(path.dirname(marker), { recursive: true });
        fs.writeFileSync(marker, '');
        fs.utimesSync(marker, startedAt, startedAt);
      }),
  );
}

/** Services and packages that are compiled file by file. */
export const listCompiledProjects = (root) =>
  ['services', 'packages']
    .flatMap((group) => fs.readdirSync(path.join(root, group)).map((name) => path.join(root, group, name)))
    .filter((project) => fs.existsSync(path.join(project, 'tsconfig.build.json')));

/** Whether the file, below `src`, is compiled: tests are not, nor types, and generated files are by their own step. */
export const isSource = (file) => /(?<!\.test|\.d)\.ts$/.test(file) && !/^(test|generated)\//.test(file);

function createDashboardStep(root) {
  const dashboard = path.join(root, 'packages/dashboard');
  return {
    marker: path.join(dashboard, 'dist/.complete'),
    inputs: [
      ...['index.html', 'package.json', 'public', 'src', 'vite.config.mts'].map((name) => path.join(dashboard, name)),
      path.join(root, 'packages/sdk/src'),
    ],
    build: (run) => run('building the dashboard', dashboard, ['node_modules/.bin/vite', 'build']),
  };
}

function createCliStep(root) {
  const cli = path.join(root, 'packages/cli');
  return {
    marker: path.join(cli, 'dist/.complete'),
    inputs: [
      ...['build.mjs', 'package.json', 'python', 'src', '../archive/src', '../sdk/src'],
      '../../services/executor/python',
    ].map((name) => path.join(cli, name)),
    build: (run) => run('building the command line', cli, [process.execPath, 'build.mjs']),
  };
}

export function createPrismaClientStep(service) {
  const title = `generating the database client of ${path.basename(service)}`;
  // Prisma would download an engine that generating does not use.
  const env = { PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true', CHECKPOINT_DISABLE: '1' };
  return {
    marker: path.join(service, 'dist/generated/.complete'),
    inputs: ['prisma/schema.prisma', 'prisma.config.ts', '../../prisma-config.ts'].map((name) =>
      path.join(service, name),
    ),
    build: async (run) => {
      await run(title, service, ['node_modules/.bin/prisma', 'generate'], env);
      await compileFiles(listFilesBelow(service, 'generated').map((file) => [service, file]));
    },
  };
}

export function createOpenApiStep(root) {
  const packages = path.join(root, 'packages');
  return {
    marker: path.join(packages, 'api-docs/dist/.complete'),
    inputs: [
      path.join(root, 'openapi'),
      ...['generate.mjs', 'complete-operations.mjs', 'document-responses.mjs'].map((name) =>
        path.join(packages, 'openapi', name),
      ),
      ...['build.mjs', 'describe-access.mjs', 'page'].map((name) => path.join(packages, 'api-docs', name)),
    ],
    build: async (run) => {
      await run('bundling the OpenAPI documents', path.join(packages, 'openapi'), [process.execPath, 'generate.mjs']);
      await run('building the HTTP reference', path.join(packages, 'api-docs'), [process.execPath, 'build.mjs']);
    },
  };
}

/** When the newest of these files was saved, looking into folders for all but tests; 0 if there is none. */
function getNewestMtime(...names) {
  const times = names.map((name) => {
    const stat = fs.statSync(name, { throwIfNoEntry: false });
    if (!stat?.isDirectory()) return stat?.mtimeMs ?? 0;
    const entries = fs.readdirSync(name).filter((entry) => !entry.endsWith('.test.ts'));
    return getNewestMtime(...entries.map((entry) => path.join(name, entry)));
  });
  return Math.max(0, ...times);
}

const listSources = (project) => listFilesBelow(project, '').filter(isSource);

const listFilesBelow = (project, folder) =>
  fs
    .readdirSync(path.join(project, 'src', folder), { recursive: true })
    .map((file) => path.join(folder, file))
    .filter((file) => /(?<!\.test|\.d)\.ts$/.test(file));

const getOutputPath = (project, file) => path.join(project, 'dist', file.replace(/\.ts$/, '.js'));

/** @param files projects with a file below their `src` each */
async function compileFiles(files) {
  const rest = files.values();
  const compileRest = async () => {
    for (const [project, file] of rest) await compileFile(project, file);
  };
  await Promise.all(Array.from({ length: OPEN_FILES_MAX }, compileRest));
}

export async function compileFile(project, file) {
  const { transformFile } = await import('@swc/core');
  const source = path.join(project, 'src', file);
  const target = getOutputPath(project, file);
  const { code, map } = await transformFile(source, OPTIONS);
  await fs.promises.mkdir(path.dirname(target), { recursive: true });
  await fs.promises.writeFile(target, `${code}//# sourceMappingURL=${path.basename(target)}.map\n`);
  await fs.promises.writeFile(`${target}.map`, map);
}
