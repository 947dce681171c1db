/**
 * Masks secrets in everything that a run outputs.
 *
 * Works on bytes, so that a secret printed in pieces is found: any tail of the stream that could be the beginning of a
 * secret is held back until more is known. The result is the same however the stream is split into chunks.
 */
import { ByteMatcher, type MatcherTables } from './byte-matcher';

export const MASK = '***';

/** Shorter values would mask ordinary text everywhere. */
const SECRET_BYTES_MIN = 4;
/** Fewer characters of a derived form would match by chance. */
const FORM_CHARS_MIN = 4;

export interface Redactor {
  text(value: string): string;
  /** Masks strings and keys anywhere inside a JSON value. */
  json(value: unknown): unknown;
  stream(): RedactedStream;
}

export interface RedactedStream {
  /** @returns the bytes that are safe to show now. */
  push(chunk: Buffer): Buffer;
  /** @returns the bytes held back so far. */
  end(): Buffer;
}

const PASS_THROUGH: Redactor = {
  text: (value) => value,
  json: (value) => value,
  stream: () => ({ push: (chunk) => chunk, end: () => Buffer.alloc(0) }),
};

/** All that takes long to make of secrets, as a thread hands it over. As sensitive as they are. */
export interface PreparedSecrets {
  /** Null: no value is long enough to be found. */
  tables: MatcherTables | null;
  /** A PIN that the code converted to a number. Whole numbers only: a match inside a longer number is a coincidence. */
  numbers: string[];
}

export function prepareSecrets(secrets: Iterable<string>): PreparedSecrets {
  const forms = new Map<string, Buffer>();
  const all = [...secrets];
  for (const secret of all) for (const form of formsOf(secret)) forms.set(form.toString('latin1'), form);
  return {
    tables: forms.size === 0 ? null : new ByteMatcher([...forms.values()]),
    numbers: all.filter((secret) => secret.length >= SECRET_BYTES_MIN && String(Number(secret)) === secret),
  };
}

export const createRedactor = (secrets: Iterable<string>): Redactor => openRedactor(prepareSecrets(secrets));

export function openRedactor(prepared: PreparedSecrets): Redactor {
  if (!prepared.tables) return PASS_THROUGH;
  const matcher = new ByteMatcher(prepared.tables);
  const numbers = new Set(prepared.numbers);

  const text = (value: string) => {
    const stream = openStream(matcher);
    const masked = Buffer.concat([stream.push(Buffer.from(value)), stream.end()]);
    return stream.maskedAny() ? masked.toString() : value;
  };
  const json = (value: unknown): unknown => {
    if (typeof value === 'number') return numbers.has(String(value)) ? MASK : value;
    if (typeof value === 'string') return text(value);
    if (Array.isArray(value)) return value.map(json);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [text(key), json(inner)]));
  };
  return { text, json, stream: () => openStream(matcher) };
}

/**
 * Finds values in each of their forms, as a redactor does.
 * @param values what stands for each value. Values that overlap are masked instead.
 * @param keepLength as many asterisks as a match has bytes, for streams whose length was announced
 */
export function openReplacing(values: Replacements, keepLength = false): RedactedStream {
  const { matcher, byForm } = values;
  const asterisks: Replace = (matched) => Buffer.alloc(matched.length, '*');
  const replacement: Replace = (matched, continues) =>
    continues ? NOTHING : (byForm.get(matched.toString('latin1')) ?? MASK_BYTES);
  return openStream(matcher, keepLength ? asterisks : replacement);
}

export interface Replacements {
  matcher: ByteMatcher;
  byForm: ReadonlyMap<string, Buffer>;
}

/** Null if no value is long enough to be found. */
export function replacementsOf(values: Iterable<{ value: string; by: string }>): Replacements | null {
  const byForm = new Map<string, Buffer>();
  const forms: Buffer[] = [];
  for (const { value, by } of values) {
    for (const form of formsOf(value)) {
      const key = form.toString('latin1');
      if (!byForm.has(key)) forms.push(form);
      byForm.set(key, Buffer.from(by));
    }
  }
  return forms.length ? { matcher: new ByteMatcher(forms), byForm } : null;
}

const MASK_BYTES = Buffer.from(MASK);
const NOTHING = Buffer.alloc(0);
/** @param continues a piece of the same range has been replaced already */
type Replace = (matched: Buffer, continues: boolean) => Buffer;
const byMask: Replace = (_, continues) => (continues ? NOTHING : MASK_BYTES);
/** Below this size it is passed on at once; a larger hold is advanced in larger steps, so that copying stays linear too. */
const HELD_BYTES_SMALL = 4_096;

/** Then they are forgotten together. */
const EMITTED_KEPT_MAX = 1_000;

/** Each maximal range of bytes that belong to any match is replaced. */
function openStream(matcher: ByteMatcher, replace = byMask): RedactedStream & { maskedAny(): boolean } {
  /** Positions count from the start of the stream; `base` is the position of the first held byte. */
  let held: Buffer[] = [];
  let base = 0;
  let position = 0;
  let node = 0;
  /** Ranges of matched bytes that have not been emitted yet, in order and disjoint. */
  let found: { from: number; to: number }[] = [];
  /** Number of ranges at the front of `found` that have been emitted: removing each would move all others. */
  let emitted = 0;
  let endedInMask = false;
  let masked = false;

  function mark(from: number, to: number) {
    masked = true;
    let start = from;
    for (let last = found.at(-1); last && found.length > emitted && last.to >= start; last = found.at(-1)) {
      start = Math.min(start, last.from);
      found.pop();
    }
    found.push({ from: start, to });
  }

  function release(upTo: number): Buffer {
    const bytes = held.length === 1 && held[0] ? held[0] : Buffer.concat(held);
    const out: Buffer[] = [];
    let at = base;
    while (at < upTo) {
      const next = found[emitted];
      const plainEnd = Math.min(upTo, next?.from ?? upTo);
      if (plainEnd > at) {
        out.push(bytes.subarray(at - base, plainEnd - base));
        endedInMask = false;
        at = plainEnd;
      }
      if (!next || next.from >= upTo) continue;
      const matchedEnd = Math.min(upTo, next.to);
      out.push(replace(bytes.subarray(at - base, matchedEnd - base), endedInMask));
      endedInMask = true;
      at = matchedEnd;
      if (next.to <= upTo) emitted++;
      else next.from = upTo;
    }
    if (emitted === found.length || emitted > EMITTED_KEPT_MAX) {
      found = found.slice(emitted);
      emitted = 0;
    }
    held = upTo < position ? [bytes.subarray(upTo - base)] : [];
    base = upTo;
    return out.length === 1 && out[0] ? out[0] : Buffer.concat(out);
  }

  return {
    push(chunk) {
      held.push(chunk);
      for (const byte of chunk) {
        position++;
        node = matcher.step(node, byte);
        const length = matcher.matched[node] as number;
        if (length) mark(position - length, position);
      }
      const safe = position - (matcher.depth[node] as number);
      const waiting = position - base;
      if (safe === base || (waiting > HELD_BYTES_SMALL && (safe - base) * 2 < waiting)) return NOTHING;
      return release(safe);
    },
    end: () => release(position),
    maskedAny: () => masked,
  };
}

/** Every form in which a value is likely to be printed, as bytes. */
function formsOf(secret: string): Buffer[] {
  const bytes = Buffer.from(secret);
  if (bytes.length < SECRET_BYTES_MIN) return [];
  const escaped = JSON.stringify(secret).slice(1, -1);
  const texts = [
    escaped,
    asciiEscaped(escaped),
    escaped.replaceAll('/', '\\/'),
    // JSON inside JSON, as services echo bodies.
    JSON.stringify(escaped).slice(1, -1),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    ...base64Forms(bytes),
  ].map((text) => Buffer.from(text));
  return [bytes, ...[...texts, ...percentForms(bytes)].filter(({ length }) => length >= FORM_CHARS_MIN)];
}

const asciiEscaped = (text: string) =>
  text.replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);

const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** Characters besides letters and digits that percent-encoders leave unescaped, as tables by byte. */
const UNESCAPED = [
  '-._~', // RFC 3986, section 2.3
  '-._~/', // Python's urllib.parse.quote
  "-._~!*'()", // JavaScript's encodeURIComponent
  "-._~!*'();/?:@&=+$,#", // JavaScript's encodeURI
  '-._*', // application/x-www-form-urlencoded
].map((kept) => {
  const table = new Uint8Array(256);
  for (const byte of Buffer.from(ALPHANUMERIC + kept)) table[byte] = 1;
  return table;
});
const HEX_DIGITS = [Buffer.from('0123456789ABCDEF'), Buffer.from('0123456789abcdef')];
const PERCENT = 0x25;
const SPACE = 0x20;
const PLUS = 0x2b;

function percentForms(bytes: Buffer): Buffer[] {
  const forms: Buffer[] = [];
  for (const kept of UNESCAPED) {
    if (bytes.every((byte) => kept[byte])) continue;
    for (const digits of HEX_DIGITS) {
      forms.push(percentEncoded(bytes, kept, digits, false));
      if (bytes.includes(SPACE)) forms.push(percentEncoded(bytes, kept, digits, true));
    }
  }
  return forms;
}

function percentEncoded(bytes: Buffer, kept: Uint8Array, digits: Uint8Array, spaceIsPlus: boolean): Buffer {
  const encoded = Buffer.allocUnsafe(3 * bytes.length);
  let length = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    if (kept[byte]) encoded[length++] = byte;
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
 * Inside a longer base64 text a secret begins at one of three alignments, and the characters at either end also carry
 * bits of its neighbours. The remaining characters are the same in every text.
 */
function base64Forms(bytes: Buffer): string[] {
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
