import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';

/** A zip as a well-meaning program makes it. */
export async function zipOf(files: Record<string, string | Buffer>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [path, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content), path);
  zip.end();
  return buffer(zip.outputStream);
}
