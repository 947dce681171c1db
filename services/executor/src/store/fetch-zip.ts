import { createHash } from 'node:crypto';
import type { Job } from '@gantry/events';
import { getBytes } from '../transfer/object-transfer';

const ZIP_BYTES_MAX = 100 << 20;

/** Downloads a zip that is named by its SHA-256. @throws if the download is larger than announced, or does not match the digest. */
export async function fetchZip({ digest: expectedDigest, url, size }: Job['code'], label: string): Promise<Buffer> {
  const zip = await getBytes(url, Math.min(size, ZIP_BYTES_MAX));
  const digest = createHash('sha256').update(zip).digest('hex');
  if (digest !== expectedDigest)
    throw new Error(`${label} was downloaded, but has the digest ${digest} instead of ${expectedDigest}`);
  return zip;
}
