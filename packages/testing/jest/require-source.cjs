/** Lets Node's own `require` load our TypeScript, so that the suites of one Jest worker share what they load. */
const fs = require('node:fs');
const Module = require('node:module');
const path = require('node:path');

const packages = path.resolve(__dirname, '../..');

/** Source files that were loaded, with the time of their last change in ms. */
const loaded = new Map();

/** Compiles the content of a TypeScript file; the runtime of the current suite sets it. */
let transform;

for (const extension of ['.ts', '.tsx']) {
  Module._extensions[extension] = (module, file) => {
    loaded.set(file, fs.statSync(file).mtimeMs);
    module._compile(transform(file), file);
  };
}

const resolve = Module._resolveFilename;
const isBuilt = (file) => file?.includes(`${path.sep}dist${path.sep}`) ?? false;

/** Our packages resolve to their sources, except from a built file, which belongs with other built files. */
Module._resolveFilename = (request, parent, ...rest) => {
  const name = /^@gantry\/([a-z-]+)$/.exec(request)?.[1];
  const isSource = name && !isBuilt(parent?.filename);
  return resolve(isSource ? path.join(packages, name, 'src/index.ts') : request, parent, ...rest);
};

/** Forgets every source once one of them has changed: in watch mode a worker outlives edits. */
function dropChangedSources() {
  const hasChanged = ([file, mtimeMs]) => fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs !== mtimeMs;
  if (![...loaded].some(hasChanged)) return;
  // The registry of metrics refuses to register those of our modules a second time.
  const registry = Object.keys(require.cache).filter((file) => file.includes(`${path.sep}prom-client${path.sep}`));
  for (const file of [...loaded.keys(), ...registry]) delete require.cache[file];
  loaded.clear();
}

module.exports = {
  dropChangedSources,
  useTransform(next) {
    transform = next;
  },
};
