import { createRequire } from 'node:module';

// yazl is a dependency of the service that packs artifacts; the bench has none of its own.
const yazl = createRequire(new URL('../../services/automation-api/package.json', import.meta.url))('yazl');

/** @param files text by path @returns the zip as a Buffer */
export async function zipOf(files) {
  const zip = new yazl.ZipFile();
  for (const [name, text] of Object.entries(files)) zip.addBuffer(Buffer.from(text), name);
  zip.end();
  const chunks = [];
  for await (const chunk of zip.outputStream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
