/**
 * The byte strings that stand for a value. Escapes (`\u002B`, `&#43;`, `%2B`) are not enumerated beyond the usual
 * encoders: any of a value's characters may be escaped or not, so decoded-view.ts reads them.
 */

/** Shorter values would mask ordinary text everywhere. */
export const SECRET_BYTES_MIN = 4;
/** Fewer characters of a derived form would match by chance. */
const FORM_CHARS_MIN = 4;

/** Lists every form in which a value is likely to be printed, as bytes; empty if the value is too short. */
export function listSecretEncodings(secret: string): Buffer[] {
  const bytes = Buffer.from(secret);
  if (bytes.length < SECRET_BYTES_MIN) return [];
  const escaped = JSON.stringify(secret).slice(1, -1);
  const texts = [
    escaped,
    escapeNonAscii(escaped),
    escaped.replaceAll('/', '\\/'),
    // JSON inside JSON, as services echo bodies.
    JSON.stringify(escaped).slice(1, -1),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    ...listBase64Encodings(bytes),
    // A form's space, beside escapes that are decoded elsewhere.
    secret.replaceAll(' ', '+'),
    // UTF-8 that was read as Latin-1, and Latin-1 itself.
    bytes.toString('latin1'),
  ].map((text) => Buffer.from(text));
  if (!/[^\0-\xff]/.test(secret)) texts.push(Buffer.from(secret, 'latin1'));
  return [bytes, ...[...texts, ...listPercentEncodings(bytes)].filter(({ length }) => length >= FORM_CHARS_MIN)];
}

const escapeNonAscii = (text: string) =>
  text.replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);

const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** Characters besides letters and digits that percent-encoders leave unescaped, as tables by byte. */
const UNESCAPED = [
  '-._~', // RFC 3986, section 2.3
  '-._~/', // Python's urllib.parse.quote
  "-._~!*'()", // JavaScript's encodeURIComponent
  "-._~!*'();/?:@&=+$,#", // JavaScript's encodeURI
  '-._*', // application/x-www-form-urlencoded
].map((unescaped) => {
  const table = new Uint8Array(256);
  for (const byte of Buffer.from(ALPHANUMERIC + unescaped)) table[byte] = 1;
  return table;
});
const HEX_DIGITS = [Buffer.from('0123456789ABCDEF'), Buffer.from('0123456789abcdef')];
const PERCENT = 0x25;
const SPACE = 0x20;
const PLUS = 0x2b;

function listPercentEncodings(bytes: Buffer): Buffer[] {
  const forms: Buffer[] = [];
  for (const unescaped of UNESCAPED) {
    if (bytes.every((byte) => unescaped[byte])) continue;
    for (const digits of HEX_DIGITS) {
      forms.push(percentEncode(bytes, unescaped, digits, false));
      if (bytes.includes(SPACE)) forms.push(percentEncode(bytes, unescaped, digits, true));
    }
  }
  return forms;
}

function percentEncode(bytes: Buffer, unescaped: Uint8Array, digits: Uint8Array, spaceIsPlus: boolean): Buffer {
  const encoded = Buffer.allocUnsafe(3 * bytes.length);
  let length = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    if (unescaped[byte]) encoded[length++] = byte;
    else if (spaceIsPlus && byte === SPACE) encoded[length++] = PLUS;
    else {
      encoded[length++] = PERCENT;
      encoded[length++] = digits[byte >> 4] as number;
      encoded[length++] = digits[byte & 15] as number;
    }
  }
  return encoded.subarray(0, length);
}

/**
 * Lists the base64 forms. In a longer text a secret begins at one of three alignments, and the characters at either end
 * also carry bits of its neighbours. The remaining characters are the same in every text.
 */
function listBase64Encodings(bytes: Buffer): string[] {
  const forms: string[] = [];
  for (let before = 0; before < 3; before++) {
    const first = Math.ceil((before * 8) / 6);
    const last = Math.floor(((before + bytes.length) * 8) / 6);
    const whole = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .slice(first, last);
    forms.push(whole, whole.replaceAll('+', '-').replaceAll('/', '_'));
  }
  // The whole value encoded on its own, with its last character and padding.
  const alone = bytes.toString('base64');
  return [...forms, alone, alone.replace(/(?<!=)=+$/, ''), bytes.toString('base64url')];
}
