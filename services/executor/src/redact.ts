/**
 * Takes secrets out of whatever a run says.
 *
 * Works on bytes, so that a secret printed in pieces is found: any end of the stream that could be the beginning of a
 * secret is held back until more is known. The result is the same for every way of cutting the stream.
 */
export const MASK = '***';

/** Shorter values would mask ordinary text everywhere. */
const SECRET_BYTES_MIN = 4;
/** Fewer characters of a derived form would match by chance. */
const FORM_CHARS_MIN = 4;

export interface Redactor {
  text(value: string): string;
  /** Strings and keys anywhere inside a JSON value. */
  json(value: unknown): unknown;
  stream(): RedactedStream;
}

export interface RedactedStream {
  /** @returns what is safe to show now. */
  push(chunk: Buffer): Buffer;
  /** @returns what had been held back. */
  end(): Buffer;
}

const PASS_THROUGH: Redactor = {
  text: (value) => value,
  json: (value) => value,
  stream: () => ({ push: (chunk) => chunk, end: () => Buffer.alloc(0) }),
};

export function createRedactor(secrets: Iterable<string>): Redactor {
  // latin1 strings have one character for each byte, which lets a regular expression work on bytes.
  const forms = new Set<string>();
  for (const secret of secrets) for (const form of formsOf(secret)) forms.add(form);
  if (forms.size === 0) return PASS_THROUGH;
  const longestFirst = [...forms].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(longestFirst.map((form) => form.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')).join('|'), 'g');

  const mask = (latin1: string) => latin1.replace(pattern, MASK);
  const text = (value: string) => {
    const latin1 = Buffer.from(value).toString('latin1');
    const masked = mask(latin1);
    return masked === latin1 ? value : Buffer.from(masked, 'latin1').toString();
  };

  /** Where the earliest end begins that could still become a secret. */
  function heldBackFrom(latin1: string): number {
    let earliest = latin1.length;
    for (const form of longestFirst) {
      for (
        let at = latin1.indexOf(form[0]!, Math.max(0, latin1.length - form.length + 1));
        at >= 0 && at < earliest;
      ) {
        if (form.startsWith(latin1.slice(at))) earliest = at;
        at = latin1.indexOf(form[0]!, at + 1);
      }
    }
    return earliest;
  }

  function stream(): RedactedStream {
    let held = '';
    return {
      push(chunk) {
        const latin1 = held + chunk.toString('latin1');
        let out = '';
        let from = 0;
        const safe = heldBackFrom(latin1);
        pattern.lastIndex = 0;
        // A match that begins before the held-back end is decided: nothing longer can still come of it.
        for (let match = pattern.exec(latin1); match && match.index < safe; match = pattern.exec(latin1)) {
          out += latin1.slice(from, match.index) + MASK;
          from = match.index + match[0].length;
        }
        pattern.lastIndex = 0;
        // A match may have eaten into what looked like a beginning: the rest has to be looked at again.
        const rest = from > safe ? heldBackFrom(latin1.slice(from)) + from : safe;
        out += latin1.slice(from, rest);
        held = latin1.slice(rest);
        return Buffer.from(out, 'latin1');
      },
      end() {
        const rest = mask(held);
        held = '';
        return Buffer.from(rest, 'latin1');
      },
    };
  }

  function json(value: unknown): unknown {
    if (typeof value === 'string') return text(value);
    if (Array.isArray(value)) return value.map(json);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [text(key), json(inner)]));
  }

  return { text, json, stream };
}

/** Every way in which a value is likely to be printed, as latin1. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  if (bytes.length < SECRET_BYTES_MIN) return [];
  const escaped = JSON.stringify(secret).slice(1, -1);
  const urlEncoded = encodeURIComponent(bytes.toString());
  const derived = [
    escaped,
    asciiEscaped(escaped),
    escaped.replaceAll('/', '\\/'),
    urlEncoded,
    urlEncoded.replaceAll('%20', '+'),
    urlEncoded.replace(/%../g, (code) => code.toLowerCase()),
    urlEncoded.replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    ...base64Forms(bytes),
  ].filter((form) => form.length >= FORM_CHARS_MIN);
  return [bytes.toString('latin1'), ...derived.map((form) => Buffer.from(form).toString('latin1'))];
}

const asciiEscaped = (text: string) =>
  text.replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);

/**
 * Inside a longer base64 text a secret begins at one of three alignments, and the characters at either end also carry
 * bits of its neighbours. What remains is the same in every text.
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
  // The whole of it encoded alone, with its last character and padding.
  const alone = bytes.toString('base64');
  return [...forms, alone, alone.replace(/=+$/, ''), bytes.toString('base64url')];
}
