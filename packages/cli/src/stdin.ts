import { usageError } from './errors';

/** @throws CommandError where it is more than `bytesMax` */
export async function readStdin(bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    size += chunk.length;
    if (size > bytesMax) throw usageError(`stdin is larger than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
