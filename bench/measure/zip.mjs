import { createRequire } from 'node:module';

// The bench has no dependencies of its own.
const yazl = createRequire(new URL('../../packages/testing/package.json', import.meta.url))('yazl');

/** @param files text by path @returns the zip as a Buffer */
export async function zipOf(files) {
  const zip = new yazl.ZipFile();
  for (const [name, text] of Object.entries(files)) zip.addBuffer(Buffer.from(text), name);
  zip.end();
  const chunks = [];
  for await (const chunk of zip.outputStream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
