/** Masks secrets in the texts of JSON values and in texts that arrive in pieces. */
import { StringDecoder } from 'node:string_decoder';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Redactor } from './redact';

/** Searched within a few milliseconds, even for a text crafted to be slow. */
export const CHARS_PER_TURN = 32 * 1024;
/** Cost of a value without a text. */
const CHARS_PER_VALUE = 16;

/** Maps every text in a JSON value, keys as well. */
export function mapStrings(value: unknown, transform: (text: string) => string): unknown {
  if (typeof value === 'string') return transform(value);
  if (Array.isArray(value)) return value.map((one) => mapStrings(one, transform));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [transform(key), mapStrings(one, transform)]));
}

/**
 * Masks every text in a JSON value, keys as well, yielding to the event loop between turns.
 * @param transform applied to each masked text
 */
export async function maskStrings(
  redactor: Redactor,
  value: unknown,
  transform = (text: string): string => text,
): Promise<unknown> {
  let left = CHARS_PER_TURN;
  const yieldIfTurnUsed = async (chars: number) => {
    left -= chars;
    if (left > 0) return;
    left = CHARS_PER_TURN;
    await nextTurn();
  };

  async function maskString(text: string): Promise<string> {
    if (text.length <= CHARS_PER_TURN) {
      if (left < text.length) await yieldIfTurnUsed(text.length);
      else left -= text.length;
      return transform(redactor.text(text));
    }
    const stream = createMaskingStream(redactor);
    const pieces: string[] = [];
    for (let from = 0; from < text.length; from += CHARS_PER_TURN) {
      await yieldIfTurnUsed(CHARS_PER_TURN);
      pieces.push(stream.push(text.slice(from, from + CHARS_PER_TURN)));
    }
    return transform(pieces.join('') + stream.end());
  }

  async function mask(one: unknown): Promise<unknown> {
    if (typeof one === 'string') return maskString(one);
    if (left <= CHARS_PER_VALUE) await yieldIfTurnUsed(CHARS_PER_VALUE);
    else left -= CHARS_PER_VALUE;
    if (typeof one === 'number') return redactor.json(one);
    if (typeof one !== 'object' || one === null) return one;
    if (Array.isArray(one)) {
      const items: unknown[] = [];
      for (const item of one) items.push(await mask(item));
      return items;
    }
    const entries: [string, unknown][] = [];
    for (const [key, inner] of Object.entries(one)) entries.push([await maskString(key), await mask(inner)]);
    return Object.fromEntries(entries);
  }

  return mask(value);
}

/** Searched characters per shown character, which bounds the time. */
const SEARCHED_CHARS_FACTOR = 4;

/** Masks a truncated text: what could be the beginning of a secret at the cut is left out. */
export const maskTruncated = (redactor: Redactor, text: string): string => createMaskingStream(redactor).push(text);

/** Masks a text that its sender has truncated if it has `charsMax` characters. */
export const maskPossiblyTruncated = (redactor: Redactor, text: string, charsMax: number): string =>
  text.length < charsMax ? redactor.text(text) : maskTruncated(redactor, text);

/** Masks a text before truncating it: a secret that is cut in two would not be recognized. */
export function maskAndTruncate(redactor: Redactor, text: string, charsMax: number): string {
  const searched = text.slice(0, SEARCHED_CHARS_FACTOR * charsMax);
  const isCut = searched.length < text.length;
  const masked = isCut ? maskTruncated(redactor, searched) : redactor.text(text);
  return isCut || masked.length > charsMax ? `${masked.slice(0, charsMax)}…` : masked;
}

/** Masks a text that comes in pieces: what could be the beginning of a secret is held back until more arrives. */
export function createMaskingStream(redactor: Redactor): { push(piece: string): string; end(): string } {
  const stream = redactor.stream();
  const decoder = new StringDecoder();
  /** An unpaired high surrogate, the other half of which has not arrived yet. */
  let half = '';
  return {
    push(piece) {
      const text = half + piece;
      half = /[\ud800-\udbff]$/.exec(text)?.[0] ?? '';
      return decoder.write(stream.push(Buffer.from(half ? text.slice(0, -1) : text)));
    },
    end: () => decoder.write(stream.push(Buffer.from(half))) + decoder.write(stream.end()) + decoder.end(),
  };
}
