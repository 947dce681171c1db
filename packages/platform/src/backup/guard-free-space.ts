import { statfs } from 'node:fs/promises';

/** Share of the disk, and bytes, of which the smaller part stays free: other programs write there too. */
const FREE_SHARE = 0.05;
const FREE_BYTES = 1 << 30;
const CHECK_EVERY_BYTES = 4 << 20;

/**
 * Passes content on while the disk has room: what a file unpacks to shows only at its end, and a forged one may be
 * endless.
 * @throws Error that says how much is left
 */
export async function* guardFreeSpace(dir: string, content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let unchecked = CHECK_EVERY_BYTES;
  for await (const chunk of content) {
    unchecked += chunk.length;
    if (unchecked >= CHECK_EVERY_BYTES) {
      const { bavail, blocks, bsize } = await statfs(dir);
      if (bavail * bsize < Math.min(blocks * bsize * FREE_SHARE, FREE_BYTES)) {
        const megabytes = Math.floor((bavail * bsize) / 1e6);
        throw new Error(
          `${dir} is on a disk with only ${megabytes} MB left: free up space, or point GANTRY_DATA_DIR to another disk`,
        );
      }
      unchecked = 0;
    }
    yield chunk;
  }
}
