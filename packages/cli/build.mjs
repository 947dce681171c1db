/**
 * Bundles the command line into one file that runs wherever Node is, and the package.json with which `npm pack` makes a package
 * of it.
 */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

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

const bundle = await rolldown({
  input: path.join(root, 'src/main.ts'),
  platform: 'node',
  // From their sources, which need no build before this one.
  resolve: {
    alias: {
      '@gantry/archive': path.join(root, '../archive/src/index.ts'),
      '@gantry/sdk': path.join(root, '../sdk/src/index.ts'),
    },
  },
  transform: {
    define: {
      'process.env.GANTRY_CLI_VERSION': JSON.stringify(version),
      'process.env.GANTRY_PYTHON_TYPES': JSON.stringify(pythonTypes),
      'process.env.GANTRY_PYTHON_PACKAGE': JSON.stringify(JSON.stringify(pythonPackage)),
      'process.env.GANTRY_PYTHON_HARNESS': JSON.stringify(JSON.stringify(pythonHarness)),
    },
  },
});
await bundle.write({
  file: path.join(out, 'gantry.mjs'),
  format: 'esm',
  // What a command imports is evaluated when the command runs.
  codeSplitting: false,
  minify: { compress: true, mangle: false, codegen: true },
  banner: '#!/usr/bin/env node',
});
await bundle.close();
fs.chmodSync(path.join(out, 'gantry.mjs'), 0o755);
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
