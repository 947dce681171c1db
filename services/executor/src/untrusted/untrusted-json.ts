/**
 * JSON that comes from inside a sandbox, on its way from bytes to values.
 *
 * A text is measured before it is parsed: what is nested deeply overflows the stack of whoever walks it later (a text of
 * 20,000 brackets parses, and then can't be written again), and an object of a million keys costs seconds. The
 * measuring is one pass that allocates nothing, about a nanosecond for each byte. What a value takes when it is written
 * again is another number than what arrived: see `mayExceed`.
 */

/** Of one value, as for the body of an HTTP request: what a run returns may become the input of another one. */
export const DEPTH_MAX = 64;

/** Names in objects, and lists and objects together. Both cost a hundred times what their bytes do. */
export const NAMES_MAX = 250_000;
export const CONTAINERS_MAX = 250_000;

/**
 * No text grows more than this between JSON.parse and JSON.stringify. Numbers grow the most (`1e20` has 4 bytes and
 * becomes 21 digits), then bytes that are not UTF-8, which become U+FFFD with three.
 */
const GROWTH_MAX = 6;

/** `message` completes "the output ..." or "a frame ...". */
export class BadJson extends Error {
  constructor(
    readonly problem: 'malformed' | 'too_deep' | 'too_large' | 'number',
    message: string,
  ) {
    super(message);
  }
}

/** @throws BadJson */
export function parseUntrusted(bytes: Buffer, depthMax = DEPTH_MAX): unknown {
  const { depth, names, containers, mayOverflow } = measure(bytes, depthMax);
  if (depth > depthMax) throw new BadJson('too_deep', `is nested deeper than ${depthMax} levels`);
  if (names > NAMES_MAX) throw new BadJson('too_large', `has more than ${NAMES_MAX} names in its objects`);
  if (containers > CONTAINERS_MAX) throw new BadJson('too_large', `has more than ${CONTAINERS_MAX} lists and objects`);
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString());
  } catch {
    throw new BadJson('malformed', 'is not JSON');
  }
  // It would be written as null.
  if (mayOverflow && !isFiniteThroughout(value)) {
    throw new BadJson('number', 'holds a number beyond 1.8e308, which JSON readers take for infinity');
  }
  return value;
}

/**
 * Whether what was parsed from so many bytes, and masked since, may take more than `bytesMax` when it is written again.
 * If so, writing it tells; most is far too small for that.
 */
export const mayExceed = (parsedBytes: number, bytesMax: number) => parsedBytes * GROWTH_MAX > bytesMax;

/** Of a value that was parsed here, so that the recursion is bounded. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(inner, levels - 1));
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Meaning of each byte outside of strings. Nearly all of them have none. */
const [OTHER, STRING, NAME, OPEN, CLOSE, DIGIT, EXPONENT] = [0, 1, 2, 3, 4, 5, 6] as const;
const MEANING = new Uint8Array(256).fill(OTHER);
for (const [bytes, meaning] of [
  ['"', STRING],
  [':', NAME],
  ['[{', OPEN],
  [']}', CLOSE],
  ['0123456789', DIGIT],
  ['eE', EXPONENT],
] as const) {
  for (const byte of Buffer.from(bytes)) MEANING[byte] = meaning;
}
/** A number with fewer digits and without an exponent is below 1.8e308. */
const DIGITS_SAFE = 308;

/** Right for every text up to its first mistake, which is as far as a parser reads. Stops where a bound is passed. */
function measure(bytes: Buffer, depthMax: number) {
  const { length } = bytes;
  let depth = 0;
  let deepest = 0;
  let names = 0;
  let containers = 0;
  let digits = 0;
  let mayOverflow = false;
  for (let at = 0; at < length; at++) {
    const meaning = MEANING[bytes[at] as number];
    if (meaning === DIGIT) {
      if (++digits > DIGITS_SAFE) mayOverflow = true;
      continue;
    }
    // `true` and `false` have an e as well, but no digit before it.
    if (meaning === EXPONENT && digits > 0) mayOverflow = true;
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
      if (depth > depthMax) break;
    }
  }
  return { depth: deepest, names, containers, mayOverflow };
}

function isFiniteThroughout(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value).every(isFiniteThroughout);
}
