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
  let held = '';
  const release = (upTo: number): string => {
    const shown = masked(held.slice(0, upTo), forms);
    held = held.slice(upTo);
    return shown;
  };
  return {
    push(piece) {
      held += piece;
      return release(safeUpTo(held, forms));
    },
    end: () => release(held.length),
  };
}

/** Nothing before this place belongs to a secret that goes on behind it. */
function safeUpTo(text: string, forms: string[]): number {
  let place = /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length;
  for (const form of forms) {
    const first = form.slice(0, 1);
    let at = text.indexOf(first, Math.max(0, text.length - form.length + 1));
    while (at !== -1 && at < place && !form.startsWith(text.slice(at))) at = text.indexOf(first, at + 1);
    if (at !== -1 && at < place) place = at;
  }
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
