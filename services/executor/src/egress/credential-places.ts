/** Checks where in a request a credential may be used, and the text around its placeholder. */
import type { CredentialPlace, JobCredential } from '@gantry/events';
import { EgressRefusedError, MALFORMED, NOT_DECLARED } from './egress-refused-error';

/** Part of a request: the whole of it, or the header, parameter, cookie or field of this name. */
export interface RequestPlace {
  place: CredentialPlace;
  name?: string | undefined;
}

type DeclaredCredential = Pick<JobCredential, 'name' | 'kind' | 'places'>;

/** @throws Refused, with a sentence that says how to allow it */
export function assertDeclared({ name, kind, places }: DeclaredCredential, { place, name: part }: RequestPlace): void {
  if (places.includes(place) || (part !== undefined && places.includes(`${place}:${part}`))) return;
  const isShown = part !== undefined && /^[A-Za-z0-9_.[\]-]{1,64}$/.test(part);
  const entry = isShown ? `${place}:${part}` : place;
  throw new EgressRefusedError(
    403,
    `the ${kind} ${name} is not allowed in the ${place} of requests; to allow it there, add ${entry} to the places of the ${kind}${place === 'body' ? `, and for a worker, also list the ${kind}'s name under its in_body` : ''}`,
    NOT_DECLARED,
  );
}

/**
 * Escapes without their last characters, which would be the first ones of a value: `%`, `%4`, `%25`, `%u00`, `\`,
 * `\u00`, `\U0001`, `\x4`, `\0000` of CSS, `&#x4`; and `%81`, which with the next byte is one character in GBK or
 * Shift-JIS.
 */
const OPEN_ESCAPE =
  /(?:%(?:25)*(?:u[0-9a-f]{0,3}|[89a-f][0-9a-f]|[0-9a-f]?)|\\(?:[ux]\{?[0-9a-f]{0,7}|[0-9a-f]{0,5})|&#x?[0-9a-f]{0,8})$/i;
export const ESCAPE_CHARS_MAX = 64;

/**
 * Rejects an escape that ends inside the value: a host that decodes it would echo the rest in a form that no search
 * finds.
 * @param before the text in front of a placeholder. @throws Refused
 */
export function assertNoOpenEscape(before: string): void {
  const end = before.slice(-ESCAPE_CHARS_MAX);
  const decoded = decodePercentAscii(end);
  // Some hosts decode twice.
  if (![end, decoded, decodePercentAscii(decoded)].some((text) => OPEN_ESCAPE.test(text))) return;
  throw new EgressRefusedError(400, 'a placeholder follows an incomplete escape sequence', MALFORMED);
}

const decodePercentAscii = (text: string): string => text.replaceAll(/%[0-7][0-9a-f]/gi, decodeURIComponent);

/** Finds the name of a query or form parameter; undefined where the placeholder is in the name. */
export const findParameterName = (pair: string, placeholder: string): string | undefined => {
  const at = pair.indexOf('=');
  return at < 0 || pair.slice(0, at).includes(placeholder) ? undefined : decodeName(pair.slice(0, at));
};

export const findCookieName = (pair: string, placeholder: string): string | undefined => {
  const at = pair.indexOf('=');
  return at < 0 || pair.slice(0, at).includes(placeholder) ? undefined : pair.slice(0, at).trim();
};

function decodeName(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** The format of `newPlaceholder` in packages/events. */
const PLACEHOLDER = /gph_(?=([0-9A-Za-z]{32}))/g;

/** Yields each placeholder with its index, in order, in time linear in the text. */
export function* findPlaceholders(text: string): Generator<{ placeholder: string; index: number }> {
  for (const { 0: prefix, 1: random, index } of text.matchAll(PLACEHOLDER)) {
    yield { placeholder: `${prefix}${random}`, index };
  }
}

/**
 * Finds the fields of a JSON text whose values contain a placeholder; items of a list have the name of the list.
 * Undefined means no name, or a text that differs from its parsed value, as with two fields of one name.
 */
export function findJsonFields(text: string): (placeholder: string) => (string | undefined)[] {
  const names = new Map<string, Set<string | undefined>>();
  const left = new Map<string, number>();
  const count = (placeholder: string, by: 1 | -1) => left.set(placeholder, (left.get(placeholder) ?? 0) + by);
  for (const { placeholder } of findPlaceholders(text)) count(placeholder, 1);
  const pending: [name: string | undefined, value: unknown][] = [[undefined, parseJson(text)]];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const [name, value] = next;
    if (typeof value === 'string') {
      for (const { placeholder } of findPlaceholders(value)) {
        names.set(placeholder, (names.get(placeholder) ?? new Set()).add(name));
        count(placeholder, -1);
      }
    } else if (Array.isArray(value)) for (const one of value) pending.push([name, one]);
    else if (value) for (const [key, one] of Object.entries(value)) pending.push([key, one]);
  }
  return (placeholder) => (left.get(placeholder) === 0 ? [...(names.get(placeholder) ?? [])] : [undefined]);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
