/** Takes values that must not leave out of texts of strangers. */

const MASK = '***';
/** Shorter ones are words, which would be masked everywhere. */
const SECRET_CHARS_MIN = 8;

/** As they are, percent-encoded and in base64. */
export function maskOf(secrets: Iterable<string>): (text: string) => string {
  const forms = [...secrets]
    .filter(({ length }) => length >= SECRET_CHARS_MIN)
    .flatMap((secret) => [
      secret,
      encodeURIComponent(Buffer.from(secret).toString()),
      Buffer.from(secret).toString('base64'),
    ])
    .sort((one, other) => other.length - one.length);
  return (text) => forms.reduce((masked, form) => masked.replaceAll(form, MASK), text);
}

/** Every text in a JSON value, keys as well. */
export function mapTexts(value: unknown, shown: (text: string) => string): unknown {
  if (typeof value === 'string') return shown(value);
  if (Array.isArray(value)) return value.map((one) => mapTexts(one, shown));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [shown(key), mapTexts(one, shown)]));
}
