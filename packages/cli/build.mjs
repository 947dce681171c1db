/**
 * Bundles the command line into one file that runs wherever Node is, and the package.json with which `npm pack` makes a package
 * of it.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { packChunks } from './pack.mjs';

const root = path.dirname(fileURLToPath(import.meta.url));
const out = path.join(root, 'dist');
const { name, version, description } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));

const executor = path.join(root, '../../services/executor/python');
/** Types of `from gantry import context`, which `gantry init` writes beside the code. */
const pythonTypes = fs.readFileSync(path.join(executor, 'gantry/__init__.pyi'), 'utf8');

/** What runs code in the sandbox, by its path; and what drives it on the machine of an author. */
const pythonHarness = Object.fromEntries(
  ['_gantry', 'gantry']
    .flatMap((name) => fs.readdirSync(path.join(executor, name)).map((file) => `${name}/${file}`))
    .filter((file) => file.endsWith('.py'))
    .map((file) => [file, fs.readFileSync(path.join(executor, file), 'utf8')]),
);
pythonHarness['local_run.py'] = fs.readFileSync(path.join(root, 'python/local_run.py'), 'utf8');

/** The package that `gantry wheel` writes: what code imports in the sandbox, what tests use in the platform's place, and a client. */
const PACKAGED = ['attachments', 'content_types', 'context', 'models', 'output', 'steps', 'tools'];
const pythonPackage = {
  ...Object.fromEntries(
    ['__init__', ...PACKAGED].map((name) => [`_gantry/${name}.py`, pythonHarness[`_gantry/${name}.py`]]),
  ),
  '_gantry/channel.py': fs.readFileSync(path.join(root, 'python/wheel_channel.py'), 'utf8'),
  'gantry/__init__.py': pythonHarness['gantry/__init__.py'],
  'gantry/__init__.pyi': pythonTypes,
  'gantry/py.typed': '',
  'gantry/client.py': fs.readFileSync(path.join(root, 'python/client.py'), 'utf8'),
  'gantry/testing.py': fs.readFileSync(path.join(root, 'python/testing.py'), 'utf8'),
};

/** In the place of what Node has: see http-messages.ts. */
const httpMessages = path.join(root, 'src/http-messages.ts');

/** Commander loads it to start programs as commands, of which there are none here. */
const withoutChildProcess = {
  name: 'commander-without-child-process',
  resolveId: (source, importer) =>
    source === 'node:child_process' && importer?.includes('/node_modules/commander/') ? '\0none' : undefined,
  load: (id) => (id === '\0none' ? 'export {}' : undefined),
};

const bundle = await rolldown({
  input: path.join(root, 'src/main.ts'),
  platform: 'node',
  plugins: [withoutChildProcess],
  // From their sources, which need no build before this one.
  resolve: {
    alias: {
      '@gantry/archive': path.join(root, '../archive/src/index.ts'),
      '@gantry/python-dependencies': path.join(root, '../python-dependencies/src/index.ts'),
      '@gantry/sdk': path.join(root, '../sdk/src/index.ts'),
    },
  },
  transform: {
    inject: {
      Headers: [httpMessages, 'Headers'],
      Request: [httpMessages, 'Request'],
      'globalThis.Request': [httpMessages, 'Request'],
      FormData: [httpMessages, 'FormData'],
    },
    define: {
      'process.env.GANTRY_CLI_VERSION': JSON.stringify(version),
      'process.env.GANTRY_PYTHON_TYPES': JSON.stringify(pythonTypes),
      'process.env.GANTRY_PYTHON_PACKAGE': JSON.stringify(JSON.stringify(pythonPackage)),
      'process.env.GANTRY_PYTHON_HARNESS': JSON.stringify(JSON.stringify(pythonHarness)),
    },
  },
});
const { output } = await bundle.generate({
  format: 'cjs',
  // The loader's `require` takes modules of Node as well.
  dynamicImportInCjs: false,
  minify: { compress: true, mangle: false, codegen: true },
});
await bundle.close();
const chunks = Object.fromEntries(output.map(({ fileName, code }) => [`./${fileName}`, code]));

const codeCaches = execFileSync(process.execPath, [path.join(root, 'code-cache.mjs')], {
  input: JSON.stringify(chunks),
  maxBuffer: 64 * 1024 * 1024,
});
fs.mkdirSync(out, { recursive: true });
// A command that runs goes on with the file that it has opened.
const unfinished = path.join(out, `.gantry.mjs.${process.pid}`);
fs.writeFileSync(unfinished, packChunks(chunks, JSON.parse(codeCaches)));
fs.chmodSync(unfinished, 0o755);
fs.renameSync(unfinished, path.join(out, 'gantry.mjs'));
const manifest = {
  name,
  version,
  description,
  type: 'module',
  bin: { gantry: 'gantry.mjs' },
  files: ['gantry.mjs'],
  engines: { node: '>=20.19' },
};
fs.writeFileSync(path.join(out, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
