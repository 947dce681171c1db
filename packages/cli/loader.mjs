// Begins the built command line: pack.mjs writes the table of chunks here, and the chunks behind it.
// Modules are taken without imports, since Node lists the exports of each imported one.
const fs = process.getBuiltinModule('node:fs');
const vm = process.getBuiltinModule('node:vm');
const file = process.getBuiltinModule('node:url').fileURLToPath(import.meta.url);

/** For each chunk, where its code is from the end of the file, and its length; the same of V8's code cache, where it has one. */
const chunkOffsets = JSON.parse('CHUNKS');
const modules = new Map();
const descriptor = fs.openSync(file);
const { size } = fs.fstatSync(descriptor);

function readBytes(fromEnd, length) {
  const bytes = Buffer.allocUnsafe(length);
  fs.readSync(descriptor, bytes, 0, length, size - fromEnd);
  return bytes.latin1Slice();
}

/** The `require` of the chunks. */
function loadModule(name) {
  const place = chunkOffsets[name];
  if (!place) return process.getBuiltinModule(name);
  const loaded = modules.get(name);
  if (loaded) return loaded.exports;
  const [codeAt, codeLength, cacheAt, cacheLength] = place;
  // V8 itself discards the cache of another version.
  const script = new vm.Script(JSON.parse(readBytes(codeAt, codeLength)), {
    filename: `${file}/${name}`,
    ...(cacheAt && { cachedData: Buffer.from(readBytes(cacheAt, cacheLength), 'base64') }),
  });
  const module = { exports: {} };
  modules.set(name, module);
  script.runInThisContext()(loadModule, module, module.exports);
  return module.exports;
}

loadModule('./main.js');
