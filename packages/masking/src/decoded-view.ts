/**
 * Views a stream as a reader that decodes its escapes, once or several times.
 *
 * Ordinary text looks the same in every view, so a view is inactive, and costs nothing, until an escape begins; it is
 * dropped as soon as it agrees with the raw stream again.
 */
import type { ByteMatcher } from './byte-matcher';
import {
  DECODED,
  decodeEscape,
  ENDED_BEFORE,
  ESCAPE_BYTES_MAX,
  ESCAPE_KIND_BY_BYTE,
  type EscapeKind,
  INCOMPLETE,
  NO_ESCAPE,
} from './escapes';

/** Positions are those of raw bytes, from the start of the stream. */
type Emit = (byte: number, from: number, to: number) => void;
type ReportMatch = (from: number, to: number, owner: number) => void;

export type DecodedView = ReturnType<typeof createDecodedView>;

const EVERY_KIND: readonly EscapeKind[] = ['backslash', 'entity', 'percent'];
/** The escapes of one writer, and those of two writers applied one after the other. */
export const VIEWS: readonly (readonly EscapeKind[])[][] = [
  ...EVERY_KIND.map((kind) => [[kind]]),
  [EVERY_KIND, EVERY_KIND],
];

const WINDOW_SMALL = 4_096;

export function createDecodedView(
  levels: readonly (readonly EscapeKind[])[],
  matcher: ByteMatcher,
  onFound: ReportMatch,
) {
  let isActive = false;
  let node = 0;
  let activatedAt = 0;
  /** Where each of the last decoded bytes begins; those before it are raw ones before `activatedAt`. */
  let starts: number[] = [];
  /** Decoded bytes since the last one that is no raw byte. */
  let plain = 0;

  const getStartOffset = (length: number): number =>
    length <= starts.length ? (starts[starts.length - length] as number) : activatedAt - (length - starts.length);

  const matchByte: Emit = (byte, from, to) => {
    node = matcher.step(node, byte);
    starts.push(from);
    plain = to - from === 1 ? plain + 1 : 0;
    const length = matcher.matched[node] as number;
    if (length) onFound(getStartOffset(length), to, matcher.owner[node] as number);
    const depth = matcher.depth[node] as number;
    if (starts.length > WINDOW_SMALL && starts.length > 2 * depth) starts = starts.slice(starts.length - depth);
  };
  const decoders: ReturnType<typeof createDecoder>[] = [];
  for (const kinds of levels.toReversed()) {
    const next = decoders[0];
    // Bounded: as many decoders as VIEWS names levels.
    decoders.unshift(createDecoder(kinds, next ? next.push : matchByte));
  }
  const first = decoders[0] as ReturnType<typeof createDecoder>;

  return {
    get isActive(): boolean {
      return isActive;
    },
    reads: (kind: EscapeKind) => levels[0]?.includes(kind) === true,
    /** @param rawNode before the byte at `position` */
    activate(rawNode: number, position: number) {
      isActive = true;
      node = rawNode;
      activatedAt = position;
      starts = [];
      plain = Number.MAX_SAFE_INTEGER;
    },
    push: (byte: number, position: number) => first.push(byte, position, position + 1),
    /** True if it is inactive now. @param rawNode after the last byte */
    dropIfEqual(rawNode: number) {
      if (node !== rawNode || (matcher.depth[node] as number) > plain) return false;
      if (decoders.some(({ pendingFrom }) => pendingFrom() >= 0)) return false;
      isActive = false;
      return true;
    },
    /** Returns the position of the earliest byte that could still become part of a match. */
    getSafePosition(position: number) {
      const depth = matcher.depth[node] as number;
      if (depth > 0) return getStartOffset(depth);
      const last = decoders.findLast(({ pendingFrom }) => pendingFrom() >= 0);
      return last?.pendingFrom() ?? position;
    },
    /** An escape that has no end is ordinary text. */
    end() {
      for (const decoder of decoders) decoder.flush();
    },
  };
}

/** Creates the decoder of one level. */
function createDecoder(kinds: readonly EscapeKind[], emit: Emit) {
  const isStart = ESCAPE_KIND_BY_BYTE.map((kind) => kind !== undefined && kinds.includes(kind));
  /** An escape that is not complete, and the span of each of its bytes. */
  const bytes = Buffer.alloc(ESCAPE_BYTES_MAX);
  const froms = new Float64Array(ESCAPE_BYTES_MAX);
  const tos = new Float64Array(ESCAPE_BYTES_MAX);
  let length = 0;

  /** Emits the first byte, which begins no escape; another escape may begin in those after it. */
  function flushFirst(): void {
    let at = 0;
    do {
      emit(bytes[at] as number, froms[at] as number, tos[at] as number);
      at++;
    } while (at < length && !isStart[bytes[at] as number]);
    const rest = length - at;
    length = 0;
    for (let i = 0; i < rest; i++) push(bytes[at + i] as number, froms[at + i] as number, tos[at + i] as number);
  }

  const push: Emit = (byte, from, to) => {
    if (length === 0 && !isStart[byte]) return emit(byte, from, to);
    bytes[length] = byte;
    froms[length] = from;
    tos[length] = to;
    length++;
    const result = decodeEscape(bytes, length);
    if (result === INCOMPLETE) return;
    if (result === NO_ESCAPE) return flushFirst();
    emitDecoded(result);
    if (result >= ENDED_BEFORE) push(byte, from, to);
  };

  function emitDecoded(result: number): void {
    const isBefore = result >= ENDED_BEFORE;
    const count = isBefore ? result - ENDED_BEFORE : result;
    const begin = froms[0] as number;
    const end = tos[isBefore ? length - 2 : length - 1] as number;
    length = 0;
    if (count === 1) emit(DECODED[0] as number, begin, end);
    // The next level decodes into the same place.
    else for (const one of Uint8Array.from(DECODED.subarray(0, count))) emit(one, begin, end);
  }

  /** The end of the text, here a null byte, ends an entity without a semicolon. */
  function endFirst(): void {
    bytes[length++] = 0;
    const result = decodeEscape(bytes, length);
    if (result >= ENDED_BEFORE) emitDecoded(result);
    else {
      length--;
      flushFirst();
    }
  }

  return {
    push,
    flush() {
      while (length) endFirst();
    },
    /** -1: nothing is held. */
    pendingFrom: (): number => (length ? (froms[0] as number) : -1),
  };
}
