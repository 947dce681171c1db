import { createHash } from 'node:crypto';
import { getBytes } from '../transfer/object-transfer';

/** A zip named by its SHA-256. */
export interface ZipReference {
  digest: string;
  url: string;
  size: number;
}

const ZIP_BYTES_MAX = 100 << 20;

/** Downloads a zip. @throws if the download is larger than announced, or does not match the digest. */
export async function fetchZip({ digest: expectedDigest, url, size }: ZipReference, label: string): Promise<Buffer> {
  const zip = await getBytes(url, Math.min(size, ZIP_BYTES_MAX));
  const digest = createHash('sha256').update(zip).digest('hex');
  if (digest !== expectedDigest)
    throw new Error(`${label} was downloaded, but has the digest ${digest} instead of ${expectedDigest}`);
  return zip;
}
