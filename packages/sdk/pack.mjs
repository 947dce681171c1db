/**
 * dist/package/    what `npm pack` makes a package of: both builds in one file each, types that need nothing of this workspace,
 *                  and in docs/ a page for each resource of the API
 * Another directory may be given as the argument.
 */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { publishedFiles } from '@gantry/openapi';
import { rolldown } from 'rolldown';
import ts from 'typescript';
import { writeReference } from './reference.mjs';

const root = path.dirname(fileURLToPath(import.meta.url));
const out = path.resolve(process.argv[2] ?? path.join(root, 'dist/package'));
const source = path.join(root, 'src');
const { name, version, description, dependencies } = JSON.parse(fs.readFileSync(path.join(root, 'package.json')));
const { '@gantry/openapi': _types, ...needed } = dependencies;

fs.rmSync(out, { recursive: true, force: true });
fs.mkdirSync(path.join(out, 'openapi'), { recursive: true });
await writeModules();
writeTypes();
writeReference(publishedFiles, path.join(out, 'docs'));
writeReadme();
const manifest = {
  ...{ name, version, description, main: 'index.js', types: 'index.d.ts' },
  exports: {
    '.': {
      import: { types: './index.d.mts', default: './index.mjs' },
      require: { types: './index.d.ts', default: './index.js' },
    },
    './package.json': './package.json',
  },
  ...{ sideEffects: false, engines: { node: '>=20.19' }, dependencies: needed },
};
fs.writeFileSync(path.join(out, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);

async function writeModules() {
  const input = path.join(source, 'index.ts');
  const bundle = await rolldown({ input, external: Object.keys(needed), platform: 'neutral' });
  await bundle.write({ file: path.join(out, 'index.mjs'), format: 'esm' });
  await bundle.write({ file: path.join(out, 'index.js'), format: 'cjs' });
  await bundle.close();
}

/** Declarations of the sources, with those of the surfaces beside them in place of the workspace's package. */
function writeTypes() {
  const file = path.join(root, 'tsconfig.build.json');
  const { options } = ts.getParsedCommandLineOfConfigFile(file, {}, { ...ts.sys, onUnRecoverableConfigFileDiagnostic });
  const program = ts.createProgram([path.join(source, 'index.ts')], {
    ...options,
    ...{ emitDeclarationOnly: true, incremental: false, tsBuildInfoFile: undefined, rootDir: path.dirname(root) },
    paths: { '@gantry/openapi': [path.join(root, '../openapi/src/index.ts')] },
  });
  program.emit(undefined, (_file, text, _mark, _onError, [{ fileName } = {}] = []) => {
    const relative = path.relative(source, fileName);
    if (relative.startsWith('..')) return;
    const target = path.join(out, relative.replace(/\.ts$/, '.d.ts'));
    fs.writeFileSync(target, text.replaceAll("'@gantry/openapi'", "'./openapi'").replaceAll(/^\/\/# .*$/gm, ''));
  });
  const surfaces = Object.keys(publishedFiles);
  for (const surface of surfaces) {
    const generated = path.join(root, `../openapi/src/generated/${surface}.ts`);
    fs.copyFileSync(generated, path.join(out, `openapi/${surface}.d.ts`));
  }
  const types = surfaces.map((one) => `  ${one}: { paths: ${one}.paths; schemas: ${one}.components['schemas'] };`);
  const lines = [
    ...surfaces.map((one) => `import type * as ${one} from './${one}';`),
    ...['interface Types {', ...types, '}'],
    "export type SurfacePaths<S extends keyof Types> = Types[S]['paths'];",
    "export type SurfaceSchemas<S extends keyof Types> = Types[S]['schemas'];",
  ];
  fs.writeFileSync(path.join(out, 'openapi/index.d.ts'), `${lines.join('\n')}\n`);
  fs.writeFileSync(path.join(out, 'index.d.mts'), "export * from './index.js';\n");
}

function onUnRecoverableConfigFileDiagnostic({ messageText }) {
  throw new Error(ts.flattenDiagnosticMessageText(messageText, '\n'));
}

/** The page of this repository, whose other pages are not there. */
function writeReadme() {
  const page = fs.readFileSync(path.join(root, '../../docs/sdk.md'), 'utf8');
  const alone = page.replaceAll(/\[([^\]]{1,100})\]\((?!https?:|#)[^)]{1,200}\)/g, '$1');
  fs.writeFileSync(path.join(out, 'README.md'), `${alone}\nEvery operation: [docs](docs/README.md)\n`);
}
