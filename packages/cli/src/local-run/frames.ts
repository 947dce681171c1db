/** Frames of the harness's channel: 4 bytes of big-endian length, then the body (services/executor/python/_gantry/channel.py). */

/** The output of a run, and a little more. */
const BODY_BYTES_MAX = 9 * 1024 * 1024;

export function toFrame(value: object): Buffer {
  const body = Buffer.from(JSON.stringify(value));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  return Buffer.concat([length, body]);
}

export async function* readFrames(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    parts.push(chunk);
    size += chunk.length;
    for (;;) {
      if (size < 4) break;
      if ((parts[0] as Buffer).length < 4) parts = [Buffer.concat(parts)];
      const length = (parts[0] as Buffer).readUInt32BE(0);
      if (length > BODY_BYTES_MAX)
        throw new Error(`a message of ${length} bytes exceeds the limit of ${BODY_BYTES_MAX}`);
      if (size < 4 + length) break;
      const all = Buffer.concat(parts);
      yield all.subarray(4, 4 + length);
      parts = [all.subarray(4 + length)];
      size -= 4 + length;
    }
  }
}
