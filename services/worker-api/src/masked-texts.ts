/** Takes values that must not leave out of texts of strangers. */

const MASK = '***';
/** Shorter ones are words, which would be masked everywhere. */
const SECRET_CHARS_MIN = 8;

export function maskOf(secrets: Iterable<string>): (text: string) => string {
  const forms = formsOf(secrets);
  return (text) => masked(text, forms);
}

const masked = (text: string, forms: string[]): string =>
  forms.reduce((shown, form) => shown.replaceAll(form, MASK), text);

/** As they are, percent-encoded and in base64; the longest first. */
function formsOf(secrets: Iterable<string>): string[] {
  return [...secrets]
    .filter(({ length }) => length >= SECRET_CHARS_MIN)
    .flatMap((secret) => [
      secret,
      encodeURIComponent(Buffer.from(secret).toString()),
      Buffer.from(secret).toString('base64'),
    ])
    .sort((one, other) => other.length - one.length);
}

/** Masks a text that comes in pieces: what could be the beginning of a secret is held back until more of it is there. */
export function maskingStream(secrets: Iterable<string>): { push(piece: string): string; end(): string } {
  const forms = formsOf(secrets);
  const beginnings = forms.map(beginningOf);
  let held = '';
  const release = (upTo: number): string => {
    const shown = masked(held.slice(0, upTo), forms);
    held = held.slice(upTo);
    return shown;
  };
  return {
    push(piece) {
      held += piece;
      const open = beginnings.reduce((most, read) => Math.max(most, read(piece)), isHalf(held) ? 1 : 0);
      return release(beforeSecrets(held, held.length - open, forms));
    },
    end: () => release(held.length),
  };
}

/** Of a character beyond 16 bits. */
const isHalf = (text: string): boolean => /[\ud800-\udbff]$/.test(text);

/**
 * Follows a text, in time linear in its length (Knuth, Morris, Pratt).
 * @returns with how many characters of the form's beginning the text ends; less than all
 */
function beginningOf(form: string): (piece: string) => number {
  const borders = new Int32Array(form.length);
  const next = (matched: number, code: number): number => {
    let known = matched;
    while (known > 0 && form.charCodeAt(known) !== code) known = borders[known - 1] ?? 0;
    return form.charCodeAt(known) === code ? known + 1 : 0;
  };
  for (let at = 1; at < form.length; at++) borders[at] = next(borders[at - 1] ?? 0, form.charCodeAt(at));
  let matched = 0;
  return (piece) => {
    for (let at = 0; at < piece.length; at++) {
      matched = next(matched, piece.charCodeAt(at));
      if (matched === form.length) matched = borders[matched - 1] ?? 0;
    }
    return matched;
  };
}

/** The last place up to this one at which the text can be cut without cutting a secret. */
function beforeSecrets(text: string, upTo: number, forms: string[]): number {
  let place = upTo;
  for (let moved = true; moved; ) {
    moved = false;
    for (const form of forms) {
      const at = text.indexOf(form, Math.max(0, place - form.length + 1));
      if (at === -1 || at >= place) continue;
      place = at;
      moved = true;
    }
  }
  return place;
}

/** Every text in a JSON value, keys as well. */
export function mapTexts(value: unknown, shown: (text: string) => string): unknown {
  if (typeof value === 'string') return shown(value);
  if (Array.isArray(value)) return value.map((one) => mapTexts(one, shown));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [shown(key), mapTexts(one, shown)]));
}
