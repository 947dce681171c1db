/** Encodes a frame of the control channel: 4 bytes of big-endian length, then the body. */

export function encodeFrame(value: unknown): Buffer {
  return encodeRawFrame(Buffer.from(JSON.stringify(value)));
}

export function encodeRawFrame(body: Uint8Array): Buffer {
  const encoded = Buffer.allocUnsafe(4 + body.length);
  encoded.writeUInt32BE(body.length);
  encoded.set(body, 4);
  return encoded;
}

/**
 * Splits a byte stream into frames. A frame over `limitBytes` is never buffered: next() throws once its length is
 * known.
 */
export class FrameReader {
  private parts: Buffer[] = [];
  private size = 0;

  constructor(public limitBytes: number) {}

  push(chunk: Buffer): void {
    this.parts.push(chunk);
    this.size += chunk.length;
  }

  /** Returns the body of the next complete frame, or null until more bytes arrive. */
  next(): Buffer | null {
    const length = this.readNextLength();
    if (length === null || this.size < 4 + length) return null;
    const all = this.joinParts();
    this.parts = all.length > 4 + length ? [all.subarray(4 + length)] : [];
    this.size -= 4 + length;
    return all.subarray(4, 4 + length);
  }

  private readNextLength(): number | null {
    if (this.size < 4) return null;
    const first = this.parts[0]!;
    const length = (first.length < 4 ? this.joinParts() : first).readUInt32BE(0);
    if (length > this.limitBytes) throw new Error(`frame of ${length} bytes, at most ${this.limitBytes} are allowed`);
    return length;
  }

  private joinParts(): Buffer {
    if (this.parts.length > 1) this.parts = [Buffer.concat(this.parts)];
    return this.parts[0]!;
  }
}
