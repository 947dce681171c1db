import { createHash } from 'node:crypto';
import { getBytes } from '../transfer/object-transfer';

/** A zip whose SHA-256 is its name. */
export interface ZipReference {
  digest: string;
  url: string;
  size: number;
}

const ZIP_BYTES_MAX = 100 << 20;

/** @throws when what lies at the address is larger than announced, or not what the digest says. */
export async function fetchZip({ digest: wanted, url, size }: ZipReference, what: string): Promise<Buffer> {
  const zip = await getBytes(url, Math.min(size, ZIP_BYTES_MAX));
  const digest = createHash('sha256').update(zip).digest('hex');
  if (digest !== wanted) throw new Error(`${what} at its address has the digest ${digest}, not ${wanted}`);
  return zip;
}
