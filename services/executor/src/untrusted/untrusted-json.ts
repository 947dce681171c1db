/**
 * Parses JSON from inside a sandbox.
 *
 * A text is measured before it is parsed: deep nesting overflows the stack of any later recursion (a text of
 * 20,000 brackets parses, but cannot be serialised again), and an object of a million keys costs seconds. The
 * measurement is one pass without allocations, about a nanosecond per byte. The size of a value when serialised
 * again differs from its size on arrival: see `canExceedSize`.
 */

/**
 * Limit of one value, the same as for the body of an HTTP request: the output of a run may become the input of another
 * one.
 */
export const DEPTH_MAX = 64;

/** Names in objects, and lists and objects together. Both cost a hundred times as much as their bytes. */
export const NAMES_MAX = 250_000;
export const CONTAINERS_MAX = 250_000;

/**
 * No text grows by more than this factor between JSON.parse and JSON.stringify. Numbers grow the most (`1e20` has 4
 * bytes and becomes 21 digits), followed by bytes that are not UTF-8, which become U+FFFD with three.
 */
const GROWTH_MAX = 6;

/** `message` completes "the output ..." or "a frame ...". */
export class InvalidJsonError extends Error {
  constructor(
    readonly problem: 'malformed' | 'too_deep' | 'too_large' | 'number',
    message: string,
  ) {
    super(message);
  }
}

/** @throws InvalidJsonError */
export function parseUntrusted(bytes: Buffer, maxDepth = DEPTH_MAX): unknown {
  const { depth, names, containers, mayOverflow: canOverflow } = measureJson(bytes, maxDepth);
  if (depth > maxDepth) throw new InvalidJsonError('too_deep', `is nested deeper than ${maxDepth} levels`);
  if (names > NAMES_MAX) throw new InvalidJsonError('too_large', `has more than ${NAMES_MAX} object keys`);
  if (containers > CONTAINERS_MAX)
    throw new InvalidJsonError('too_large', `has more than ${CONTAINERS_MAX} lists and objects`);
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString());
  } catch {
    throw new InvalidJsonError('malformed', 'is not JSON');
  }
  // It would be serialised as null.
  if (canOverflow && !hasOnlyFiniteNumbers(value)) {
    throw new InvalidJsonError('number', 'contains a number beyond 1.8e308, which JSON parsers treat as infinity');
  }
  return value;
}

/**
 * Whether a value parsed from this many bytes, and masked since, may exceed `bytesMax` when serialised again.
 * If so, the caller serialises it to find out; nearly all values are far too small for that.
 */
export const canExceedSize = (parsedBytes: number, bytesMax: number) => parsedBytes * GROWTH_MAX > bytesMax;

/** Compares the depth of a value that was parsed here, so the recursion is bounded. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(inner, levels - 1));
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Classes of bytes outside of strings. Nearly all bytes have none. */
const [OTHER, STRING, NAME, OPEN, CLOSE, DIGIT, EXPONENT] = [0, 1, 2, 3, 4, 5, 6] as const;
const BYTE_CLASS = new Uint8Array(256).fill(OTHER);
for (const [bytes, meaning] of [
  ['"', STRING],
  [':', NAME],
  ['[{', OPEN],
  [']}', CLOSE],
  ['0123456789', DIGIT],
  ['eE', EXPONENT],
] as const) {
  for (const byte of Buffer.from(bytes)) BYTE_CLASS[byte] = meaning;
}
/** A number with fewer digits and without an exponent is below 1.8e308. */
const DIGITS_SAFE = 308;

/**
 * Correct for every text up to its first syntax error, which is as far as a parser reads. Stops when a bound is
 * exceeded.
 */
function measureJson(bytes: Buffer, maxDepth: number) {
  const { length } = bytes;
  let depth = 0;
  let deepest = 0;
  let names = 0;
  let containers = 0;
  let digits = 0;
  let canOverflow = false;
  for (let at = 0; at < length; at++) {
    const meaning = BYTE_CLASS[bytes[at] as number];
    if (meaning === DIGIT) {
      if (++digits > DIGITS_SAFE) canOverflow = true;
      continue;
    }
    // `true` and `false` have an e as well, but no digit before it.
    if (meaning === EXPONENT && digits > 0) canOverflow = true;
    digits = 0;
    if (meaning === OTHER) continue;
    if (meaning === STRING) {
      for (at++; at < length; at++) {
        const byte = bytes[at];
        if (byte === QUOTE) break;
        if (byte === BACKSLASH) at++;
      }
    } else if (meaning === NAME) names++;
    else if (meaning === CLOSE) depth--;
    else if (meaning === OPEN) {
      containers++;
      if (++depth > deepest) deepest = depth;
      if (depth > maxDepth) break;
    }
  }
  return { depth: deepest, names, containers, mayOverflow: canOverflow };
}

function hasOnlyFiniteNumbers(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value).every(hasOnlyFiniteNumbers);
}
