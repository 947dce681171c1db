/** Redacts the frames of a WebSocket server (RFC 6455, section 5) message by message, and rewrites them. */
import { Transform } from 'node:stream';
import type { RedactedStream } from '@gantry/masking';
import type { ResponseRedaction } from './response-redaction';

const CONTINUATION = 0;
const CONTROL = 8;
const FINAL = 0x80;
const RESERVED = 0x70;
const MASKED = 0x80;
const HEAD_BYTES_MAX = 10;
const CONTROL_BYTES_MAX = 125;

interface FrameHead {
  opcode: number;
  isFinal: boolean;
  /** Length of the payload. */
  length: number;
  headBytes: number;
}

/** Fails for a frame that cannot be searched: compressed, masked, or in the wrong place. */
export function createMessageRedaction(reflection: ResponseRedaction): Transform {
  let held: Buffer = Buffer.alloc(0);
  let frame: FrameHead | null = null;
  let bytesLeft = 0;
  /** Opcode of the current message. */
  let opcode = CONTINUATION;
  let search: RedactedStream | null = null;

  function openFrame(head: FrameHead): void {
    const isControl = head.opcode >= CONTROL;
    const isFirst = head.opcode !== CONTINUATION;
    if (isControl && (!head.isFinal || head.length > CONTROL_BYTES_MAX))
      throw new Error('a control frame is fragmented');
    if (!isControl && isFirst === (search !== null)) throw new Error('a fragment is out of order');
    if (!isControl && isFirst) {
      opcode = head.opcode;
      search = reflection.search();
    }
    frame = head;
    bytesLeft = head.length;
  }

  /** Writes the payload of a message in frames of its size. */
  function writeFrame(out: Transform, payload: Buffer, isFinal: boolean): void {
    if (!payload.length && !isFinal) return;
    out.push(buildFrame(opcode, isFinal, payload));
    opcode = CONTINUATION;
  }

  function takePayload(out: Transform, head: FrameHead): void {
    const piece = held.subarray(0, bytesLeft);
    held = held.subarray(piece.length);
    bytesLeft -= piece.length;
    const isEnd = bytesLeft === 0;
    if (isEnd) frame = null;
    // Small and never fragmented, so its length must not change.
    if (head.opcode >= CONTROL) return void out.push(buildFrame(head.opcode, true, reflection.asterisks(piece)));
    writeFrame(out, search?.push(piece) ?? piece, false);
    if (!isEnd || !head.isFinal) return;
    writeFrame(out, search?.end() ?? Buffer.alloc(0), true);
    search = null;
  }

  /** Returns whether a frame can be handled: a control frame only when it is complete. */
  const isReady = ({ opcode, length }: FrameHead) => opcode < CONTROL || held.length >= length;

  return new Transform({
    transform(chunk: Buffer, _, done) {
      try {
        held = held.length ? Buffer.concat([held, chunk]) : chunk;
        while (true) {
          if (!frame) {
            const head = parseFrameHead(held);
            if (!head) break;
            openFrame(head);
            held = held.subarray(head.headBytes);
          }
          const current = frame as FrameHead | null;
          if (!current || !isReady(current) || (bytesLeft > 0 && !held.length)) break;
          takePayload(this, current);
        }
        done();
      } catch (err) {
        done(err as Error);
      }
    },
  });
}

/** Parses the head of a frame; null until it is complete. */
function parseFrameHead(bytes: Buffer): FrameHead | null {
  const [first, second] = bytes;
  if (first === undefined || second === undefined) return null;
  if (first & RESERVED || second & MASKED) throw new Error('a frame is allowed from a server only with an extension');
  const size = second & 0x7f;
  const headBytes = size === 127 ? HEAD_BYTES_MAX : size === 126 ? 4 : 2;
  if (bytes.length < headBytes) return null;
  const length = size === 127 ? Number(bytes.readBigUInt64BE(2)) : size === 126 ? bytes.readUInt16BE(2) : size;
  if (!Number.isSafeInteger(length)) throw new Error('a frame has an impossible length');
  return { opcode: first & 0x0f, isFinal: (first & FINAL) !== 0, length, headBytes };
}

function buildFrame(opcode: number, isFinal: boolean, payload: Buffer): Buffer {
  const { length } = payload;
  const head = Buffer.alloc(length > 0xffff ? HEAD_BYTES_MAX : length > CONTROL_BYTES_MAX ? 4 : 2);
  head[0] = (isFinal ? FINAL : 0) | opcode;
  head[1] = length > 0xffff ? 127 : length > CONTROL_BYTES_MAX ? 126 : length;
  if (length > 0xffff) head.writeBigUInt64BE(BigInt(length), 2);
  else if (length > CONTROL_BYTES_MAX) head.writeUInt16BE(length, 2);
  return Buffer.concat([head, payload]);
}
