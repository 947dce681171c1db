/**
 * Measures depth and parts of a JSON text from its bytes before it is parsed: a megabyte of `[` takes the parser a
 * quarter of a second, and one of distinct names a tenth.
 */
import { randomInt } from 'node:crypto';

export interface JsonSize {
  depth: number;
  /** Objects, arrays and names of properties together. */
  parts: number;
  /** Distinct names of properties; names with equal hashes count as one. */
  names: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const SPACE = 0x20;
/** Maps `[` to `{` and `]` to `}`. */
const BRACE_BIT = 0x20;
const OPENING_BRACKETS = 0x7b;
const CLOSING_BRACKETS = 0x7d;

/** Bound once: a global is looked up by its name for each byte where a context has globals of its own. */
const { imul } = Math;

/** Prevents an attacker from choosing names with equal hashes. */
const SEED = randomInt(2 ** 31);

/** Measures UTF-8. Stops counting above the maxima. The result is meaningless for bytes that are not JSON. */
export function measureJsonSize(bytes: Buffer, limits: JsonSize): JsonSize {
  const names = new Set<number>();
  let depth = 0;
  let deepest = 0;
  let parts = 0;
  /** Hash of the last string, if only space has followed. */
  let hash: number | undefined;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte <= SPACE) continue;
    if (byte === QUOTE) {
      hash = SEED;
      for (at++; at < bytes.length && bytes[at] !== QUOTE; at++) {
        if (bytes[at] === BACKSLASH) at++;
        // FNV-1a.
        hash = imul(hash ^ (bytes[at] as number), 0x01000193);
      }
      continue;
    }
    if (byte === COLON && hash !== undefined) {
      parts++;
      names.add(hash);
      if (names.size > limits.names) break;
    } else if ((byte | BRACE_BIT) === OPENING_BRACKETS) {
      parts++;
      if (++depth > deepest) deepest = depth;
      if (deepest > limits.depth) break;
    } else if ((byte | BRACE_BIT) === CLOSING_BRACKETS) depth--;
    hash = undefined;
  }
  return { depth: deepest, parts, names: names.size };
}
