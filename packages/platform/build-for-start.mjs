/**
 * What a start needs of a build: JavaScript without type declarations, nothing type-checked. `turbo run build` makes the same
 * files, and more; either may follow the other.
 */
import fs from 'node:fs';
import path from 'node:path';
import { transformFile } from '@swc/core';

const OPTIONS = {
  swcrc: false,
  configFile: false,
  jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
  // As tsc does it: an import() stays one, for packages that are ES modules; and those find the names that a file exports.
  module: { type: 'commonjs', ignoreDynamic: true, exportInteropAnnotation: true },
  sourceMaps: true,
};

/** @param run the title, the folder and the command line of a process; rejects where that fails */
export async function buildForStart(root, run) {
  const projects = ['services', 'packages'].flatMap((group) =>
    fs.readdirSync(path.join(root, group)).map((name) => path.join(root, group, name)),
  );
  const compiled = projects.filter((project) => fs.existsSync(path.join(project, 'tsconfig.build.json')));
  await Promise.all(compiled.flatMap((project) => sourcesIn(project).map((file) => compile(project, file))));

  const packages = path.join(root, 'packages');
  const databases = compiled.filter((project) => fs.existsSync(path.join(project, 'prisma.config.ts')));
  await Promise.all([
    run('building the dashboard', path.join(packages, 'dashboard'), ['node_modules/.bin/vite', 'build']),
    ...databases.map((service) => buildDatabaseClient(service, run)),
    buildContract(packages, run),
  ]);
}

async function buildDatabaseClient(service, run) {
  const title = `generating the database client of ${path.basename(service)}`;
  // Prisma would download an engine that generating does not use.
  const env = { PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true', CHECKPOINT_DISABLE: '1' };
  await run(title, service, ['node_modules/.bin/prisma', 'generate'], env);
  await Promise.all(filesBelow(service, 'generated').map((file) => compile(service, file)));
}

async function buildContract(packages, run) {
  const documents = ['generate.mjs', '--documents-only'];
  await run('bundling the OpenAPI documents', path.join(packages, 'openapi'), [process.execPath, ...documents]);
  await run('building the HTTP reference', path.join(packages, 'api-docs'), [process.execPath, 'build.mjs']);
}

/** Without what is generated: that follows, or is types alone. */
const sourcesIn = (project) => filesBelow(project, '').filter((file) => !/^(test|generated)\//.test(file));

const filesBelow = (project, folder) =>
  fs
    .readdirSync(path.join(project, 'src', folder), { recursive: true })
    .map((file) => path.join(folder, file))
    .filter((file) => /(?<!\.test|\.d)\.ts$/.test(file));

async function compile(project, file) {
  const source = path.join(project, 'src', file);
  const target = path.join(project, 'dist', file.replace(/\.ts$/, '.js'));
  const { code, map } = await transformFile(source, OPTIONS);
  await fs.promises.mkdir(path.dirname(target), { recursive: true });
  await fs.promises.writeFile(target, `${code}//# sourceMappingURL=${path.basename(target)}.map\n`);
  await fs.promises.writeFile(`${target}.map`, map);
}
