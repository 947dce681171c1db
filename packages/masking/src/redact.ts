/**
 * Masks secrets in everything that a run outputs.
 *
 * Works on bytes, so that a secret printed in pieces is found: any tail of the stream that could be the beginning of a
 * secret is held back until more is known. The result is the same however the stream is split into chunks.
 */
import { ByteMatcher, type MatcherTables } from './byte-matcher';
import { createReplacingStream, MASK, type RedactedStream, type ReplacingStreamOptions } from './replacing-stream';
import { listSecretEncodings, SECRET_BYTES_MIN } from './secret-encodings';

export interface Redactor {
  text(value: string): string;
  /** Masks strings and keys anywhere inside a JSON value. */
  json(value: unknown): unknown;
  stream(): RedactedStream;
}

const PASS_THROUGH: Redactor = {
  text: (value) => value,
  json: (value) => value,
  stream: () => ({ push: (chunk) => chunk, end: () => Buffer.alloc(0) }),
};

/** Everything expensive to derive from secrets, transferable between threads. As sensitive as they are. */
export interface PreparedSecrets {
  /** Null: no value is long enough to be found. */
  tables: MatcherTables | null;
  /** A PIN that the code converted to a number. Whole numbers only: a match inside a longer number is a coincidence. */
  numbers: string[];
}

export function prepareSecrets(secrets: Iterable<string>): PreparedSecrets {
  const forms = new Map<string, Buffer>();
  const all = [...secrets];
  for (const secret of all) for (const form of listSecretEncodings(secret)) forms.set(form.toString('latin1'), form);
  return {
    tables: forms.size === 0 ? null : new ByteMatcher([...forms.values()]),
    numbers: all.filter((secret) => secret.length >= SECRET_BYTES_MIN && String(Number(secret)) === secret),
  };
}

export const createRedactor = (secrets: Iterable<string>): Redactor => createPreparedRedactor(prepareSecrets(secrets));

export function createPreparedRedactor(prepared: PreparedSecrets): Redactor {
  if (!prepared.tables) return PASS_THROUGH;
  const matcher = new ByteMatcher(prepared.tables);
  const numbers = new Set(prepared.numbers);

  const text = (value: string) => {
    let hasMatch = false;
    const stream = createReplacingStream(matcher, {
      onReplaced: () => {
        hasMatch = true;
      },
    });
    const masked = Buffer.concat([stream.push(Buffer.from(value)), stream.end()]);
    return hasMatch ? masked.toString() : value;
  };
  const json = (value: unknown): unknown => {
    if (typeof value === 'number') return numbers.has(String(value)) ? MASK : value;
    if (typeof value === 'string') return text(value);
    if (Array.isArray(value)) return value.map(json);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [text(key), json(inner)]));
  };
  return { text, json, stream: () => createReplacingStream(matcher) };
}

/** Values to search for, and the replacement of each. */
export type Replacements = NonNullable<ReturnType<typeof createReplacements>>;

/** Null if no value is long enough to be found. */
export function createReplacements(values: Iterable<{ value: string; by: string }>) {
  const byForm = new Map<string, { form: Buffer; by: Buffer }>();
  for (const { value, by } of values) {
    const replacement = Buffer.from(by);
    for (const form of listSecretEncodings(value)) byForm.set(form.toString('latin1'), { form, by: replacement });
  }
  if (!byForm.size) return null;
  const sorted = [...byForm.values()].sort((one, other) => Buffer.compare(one.form, other.form));
  return { matcher: new ByteMatcher(sorted.map(({ form }) => form)), by: sorted.map((one) => one.by) };
}

/** Replaces values in each of their forms, as a redactor finds them. */
export const createReplacementStream = (
  { matcher, by }: Replacements,
  options: Pick<ReplacingStreamOptions, 'keepLength' | 'onReplaced'> = {},
): RedactedStream => createReplacingStream(matcher, { ...options, by });
