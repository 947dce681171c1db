/** Escapes that writers of JSON, source code, HTML and URLs use for characters. */

export type EscapeKind = 'backslash' | 'entity' | 'percent';

const PERCENT = 0x25;
const AMPERSAND = 0x26;
const BACKSLASH = 0x5c;
const SEMICOLON = 0x3b;
const EQUALS = 0x3d;

/** First bytes of escapes, by byte. */
export const ESCAPE_KIND_BY_BYTE: readonly (EscapeKind | undefined)[] = Array.from({ length: 256 }, (_, byte) =>
  byte === PERCENT ? 'percent' : byte === AMPERSAND ? 'entity' : byte === BACKSLASH ? 'backslash' : undefined,
);

/** More bytes than any escape has. */
export const ESCAPE_BYTES_MAX = 16;
/** The bytes may yet become an escape. */
export const INCOMPLETE = -1;
/** The bytes are no escape. */
export const NO_ESCAPE = -2;
/** Added to a number of bytes: the escape ended before the last byte. */
export const ENDED_BEFORE = 8;
/** Bytes of the last escape. Decoding runs for each byte of hostile output, so it allocates nothing. */
export const DECODED = Buffer.alloc(4);

/**
 * Decodes an escape into DECODED.
 * @param bytes begin with the first byte of an escape
 * @param length of them
 * @returns the number of bytes that it stands for, possibly with ENDED_BEFORE; INCOMPLETE or NO_ESCAPE
 */
export function decodeEscape(bytes: Buffer, length: number): number {
  if (length < 2) return INCOMPLETE;
  if (bytes[0] === PERCENT)
    return bytes[1] === LOWER_U ? decodeUnits(bytes, length) : decodeHex(bytes, length, 1, 2, writeByte);
  return bytes[0] === AMPERSAND ? decodeEntity(bytes, length) : decodeBackslash(bytes, length);
}

function writeByte(value: number): number {
  DECODED[0] = value;
  return 1;
}

function writeUtf8(code: number): number {
  if (code < 0x80) return writeByte(code);
  return DECODED.write(code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code));
}

function toDigit(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

/** Decodes a number of exactly `count` hex digits. */
function decodeHex(bytes: Buffer, length: number, from: number, count: number, to: (value: number) => number): number {
  let value = 0;
  for (let i = from; i < from + count; i++) {
    if (i >= length) return INCOMPLETE;
    const digit = toDigit(bytes[i]);
    if (digit < 0) return NO_ESCAPE;
    value = value * 16 + digit;
  }
  return to(value);
}

/** Decoded byte by the byte after a backslash; 0: no escape. */
const SIMPLE = new Uint8Array(256);
for (const [from, to] of ['""', "''", '``', '//', '\\\\', 'b\b', 'f\f', 'n\n', 'r\r', 't\t']) {
  SIMPLE[(from as string).charCodeAt(0)] = (to as string).charCodeAt(0);
}
const UPPER_U = 0x55;
const LOWER_U = 0x75;
const LOWER_X = 0x78;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

function decodeBackslash(bytes: Buffer, length: number): number {
  const kind = bytes[1] as number;
  if (kind === LOWER_X) return decodeHex(bytes, length, 2, 2, writeByte);
  if (kind === LOWER_U)
    return length > 2 && bytes[2] === OPEN_BRACE ? decodeBraces(bytes, length) : decodeUnits(bytes, length);
  if (kind === UPPER_U) return decodeHex(bytes, length, 2, 8, writeUtf8);
  if (kind >= 0x30 && kind <= 0x33) return decodeOctal(bytes, length);
  const simple = SIMPLE[kind] as number;
  return simple === 0 ? NO_ESCAPE : writeByte(simple);
}

/** Decodes `\u{2B}`. */
function decodeBraces(bytes: Buffer, length: number): number {
  if (length > 10) return NO_ESCAPE;
  const last = bytes[length - 1];
  if (last !== CLOSE_BRACE) return length === 3 || toDigit(last) >= 0 ? INCOMPLETE : NO_ESCAPE;
  return length > 4 ? decodeHex(bytes, length, 3, length - 4, writeUtf8) : NO_ESCAPE;
}

/** Decodes `\u002B` or `%u002B`, or a surrogate pair of two. */
function decodeUnits(bytes: Buffer, length: number): number {
  const unit = Math.min(length, 6);
  return decodeHex(bytes, unit, 2, 4, (high) => {
    if (high < 0xd800 || high > 0xdbff) return writeUtf8(high);
    if (length === 6) return INCOMPLETE;
    if (bytes[6] !== bytes[0] || (length > 7 && bytes[7] !== LOWER_U)) return NO_ESCAPE;
    return decodeHex(bytes, length, 8, 4, (low) => writeUtf8(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)));
  });
}

function decodeOctal(bytes: Buffer, length: number): number {
  let value = 0;
  for (let i = 1; i < length; i++) {
    const digit = (bytes[i] as number) - 0x30;
    if (digit < 0 || digit > 7) return NO_ESCAPE;
    value = value * 8 + digit;
  }
  return length === 4 ? writeByte(value) : INCOMPLETE;
}

const NUMBER_SIGN = 0x23;
const NUMERIC_MAX = 10;
/** Named character references of ASCII punctuation, and of Latin-1 from U+00A0 on. */
const PUNCTUATION: Record<string, string> = {
  Tab: '\t',
  NewLine: '\n',
  excl: '!',
  quot: '"',
  num: '#',
  dollar: '$',
  percnt: '%',
  amp: '&',
  apos: "'",
  lpar: '(',
  rpar: ')',
  ast: '*',
  plus: '+',
  comma: ',',
  period: '.',
  sol: '/',
  colon: ':',
  semi: ';',
  lt: '<',
  equals: '=',
  gt: '>',
  quest: '?',
  commat: '@',
  lsqb: '[',
  lbrack: '[',
  bsol: '\\',
  rsqb: ']',
  rbrack: ']',
  Hat: '^',
  lowbar: '_',
  grave: '`',
  lcub: '{',
  lbrace: '{',
  verbar: '|',
  vert: '|',
  rcub: '}',
  rbrace: '}',
  QUOT: '"',
  AMP: '&',
  LT: '<',
  GT: '>',
};
const LATIN_NAMES =
  `nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro
  para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute
  Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN
  szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute
  ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml`.split(/\s+/);
/** Code points. */
const NAMED = new Map<string, number>([
  ...Object.entries(PUNCTUATION).map(([name, text]) => [name, text.charCodeAt(0)] as const),
  ...LATIN_NAMES.map((name, i) => [name, 0xa0 + i] as const),
]);
const NAME_MAX = Math.max(...[...NAMED.keys()].map(({ length }) => length));
/** Names that HTML also reads without a semicolon. */
const BARE_NAMES = new Set(['amp', 'AMP', 'gt', 'GT', 'lt', 'LT', 'quot', 'QUOT', ...LATIN_NAMES]);

function decodeEntity(bytes: Buffer, length: number): number {
  return bytes[1] === NUMBER_SIGN ? decodeNumericEntity(bytes, length) : decodeNamedEntity(bytes, length);
}

/** Without a semicolon a name ends as in attributes: `&region` and `&reg=` are parameters of a URL. */
function decodeNamedEntity(bytes: Buffer, length: number): number {
  const last = bytes[length - 1] as number;
  const letter = last | 0x20;
  if ((last >= 0x30 && last <= 0x39) || (letter >= 0x61 && letter <= 0x7a))
    return length <= NAME_MAX + 1 ? INCOMPLETE : NO_ESCAPE;
  if (length === 2) return NO_ESCAPE;
  const name = bytes.toString('latin1', 1, length - 1);
  if (last === SEMICOLON) return writeIfKnown(NAMED.get(name));
  const count = last !== EQUALS && BARE_NAMES.has(name) ? writeIfKnown(NAMED.get(name)) : NO_ESCAPE;
  return count === NO_ESCAPE ? count : count + ENDED_BEFORE;
}

/** Decodes `&#43;` and `&#x2B;`, which also end at the first byte that is no digit. */
function decodeNumericEntity(bytes: Buffer, length: number): number {
  if (length === 2) return INCOMPLETE;
  const isHex = ((bytes[2] as number) | 0x20) === LOWER_X;
  const from = isHex ? 3 : 2;
  if (length === from) return INCOMPLETE;
  const last = bytes[length - 1] as number;
  const digit = toDigit(last);
  if (digit >= 0 && (isHex || digit < 10)) return length <= from + NUMERIC_MAX ? INCOMPLETE : NO_ESCAPE;
  if (length === from + 1) return NO_ESCAPE;
  const count = writeUtf8(Number.parseInt(bytes.toString('latin1', from, length - 1), isHex ? 16 : 10));
  return last === SEMICOLON ? count : count + ENDED_BEFORE;
}

const writeIfKnown = (code: number | undefined): number => (code === undefined ? NO_ESCAPE : writeUtf8(code));
