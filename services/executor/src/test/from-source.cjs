// Lets plain node run the TypeScript sources: tests start real processes without a build.
const fs = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const { transformSync } = require('@swc/core');

const packages = path.join(__dirname, '../../../../packages');

require.extensions['.ts'] = (module, file) => {
  const { code } = transformSync(fs.readFileSync(file, 'utf8'), {
    filename: file,
    jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
    module: { type: 'commonjs' },
  });
  module._compile(code, file);
};

const resolve = Module._resolveFilename;
Module._resolveFilename = (request, ...rest) => {
  const name = /^@gantry\/([a-z-]+)$/.exec(request)?.[1];
  return resolve(name ? path.join(packages, name, 'src/index.ts') : request, ...rest);
};
