import { createHash } from 'node:crypto';
import { type NewFile, writeZip } from '@gantry/archive';

/**
 * Packs files anew. The digest identifies the code to run: equal files have an equal digest, regardless of packer and
 * time.
 */
export async function packFiles(files: NewFile[]): Promise<{ zip: Buffer; digest: string }> {
  const zip = await writeZip(files);
  return { zip, digest: createHash('sha256').update(zip).digest('hex') };
}
