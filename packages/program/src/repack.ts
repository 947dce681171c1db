import { createHash } from 'node:crypto';
import { type NewFile, writeZip } from '@gantry/archive';

/** The digest names what runs: equal files have an equal one, whoever packed them and when. */
export async function repack(files: NewFile[]): Promise<{ zip: Buffer; digest: string }> {
  const zip = await writeZip(files);
  return { zip, digest: createHash('sha256').update(zip).digest('hex') };
}
