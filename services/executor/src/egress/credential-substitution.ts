/** Replaces placeholders in a request by the values of credentials, in the places that the credentials declare. */
import { validateHeaderValue } from 'node:http';
import type { JobCredential } from '@gantry/events';
import {
  assertDeclared,
  assertNoOpenEscape,
  ESCAPE_CHARS_MAX,
  findCookieName,
  findJsonFields,
  findParameterName,
  findPlaceholders,
  type RequestPlace,
} from './credential-places';
import { EgressRefusedError, FAILED, LIMIT } from './egress-refused-error';

export type EgressCredential = Pick<JobCredential, 'name' | 'kind' | 'placeholder' | 'value' | 'hosts' | 'places'>;

/** Each placeholder may be replaced by 16 KB: limits the growth of a request. */
const ADDED_BYTES_MAX = 1 << 20;

export type Encode = (value: string) => string;
/** Finds the parts of a text that contain each placeholder. */
type Locate = (text: string) => (placeholder: string) => RequestPlace[];

/** One request's substitutions. All texts are latin1, like Node's headers: a character is a byte. */
export type Substitution = ReturnType<typeof createSubstitution>;

/** Each method throws Refused for a placeholder in a place that its credential does not declare. */
export function createSubstitution(credentials: EgressCredential[]) {
  const used = new Set<string>();
  const byPlaceholder = new Map(credentials.map((one) => [one.placeholder, one]));
  let bytesLeft = ADDED_BYTES_MAX;

  /** Reads the text once, however many credentials there are: the code of a run chooses both. */
  function substitute(text: string, encode: Encode, locate: Locate): string {
    const encoded = new Map<string, string>();
    const pieces: string[] = [];
    let locateIn: ReturnType<Locate> | undefined;
    let end = 0;
    /** The last characters before the placeholder, as they are sent. */
    let before = '';
    for (const { placeholder, index } of findPlaceholders(text)) {
      const credential = byPlaceholder.get(placeholder);
      if (!credential || index < end) continue;
      let bytes = encoded.get(placeholder);
      if (bytes === undefined) {
        locateIn ??= locate(text);
        for (const spot of locateIn(placeholder)) assertDeclared(credential, spot);
        bytes = toLatin1(encode(credential.value));
        encoded.set(placeholder, bytes);
        used.add(credential.name);
      }
      const between = text.slice(end, index);
      assertNoOpenEscape(before + between.slice(-ESCAPE_CHARS_MAX));
      bytesLeft -= bytes.length;
      if (bytesLeft < 0) throw new EgressRefusedError(413, 'the request has too many placeholders', LIMIT);
      pieces.push(between, bytes);
      before = bytes.slice(-ESCAPE_CHARS_MAX);
      end = index + placeholder.length;
    }
    return pieces.join('') + text.slice(end);
  }

  function substituteInPairs(text: string, separator: string, encode: Encode, locate: Locate): string {
    const pieces: string[] = [];
    let end = 0;
    for (const { placeholder, index } of findPlaceholders(text)) {
      if (index < end || !byPlaceholder.has(placeholder)) continue;
      // Bounded: both searches end at the separators of the pair, and each pair is visited once.
      const [start, stop] = [text.lastIndexOf(separator, index) + 1, text.indexOf(separator, index)];
      const next = stop < 0 ? text.length : stop;
      pieces.push(text.slice(end, start), substitute(text.slice(start, next), encode, locate));
      end = next;
    }
    return pieces.join('') + text.slice(end);
  }

  function substituteInHeader(name: string, value: string): string {
    if (name === 'cookie') return substituteInPairs(value, ';', encodeInHeader, locateInCookie);
    const locate: Locate = () => () => [{ place: 'header', name }];
    const [, scheme, encoded] = (name === 'authorization' && BASIC.exec(value)) || [];
    if (!scheme || !encoded) return substitute(value, encodeInHeader, locate);
    const pair = Buffer.from(encoded, 'base64').toString('latin1');
    const substituted = substitute(pair, encodePlain, locate);
    return substituted === pair ? value : `${scheme} ${Buffer.from(substituted, 'latin1').toString('base64')}`;
  }

  function substituteInBody(text: string, contentType: string): string {
    if (FORM.test(contentType)) return substituteInPairs(text, '&', encodeInQuery, locateInForm);
    return JSON_TYPE.test(contentType)
      ? substitute(text, encodeInJson, locateInFields)
      : substitute(text, encodePlain, () => () => [{ place: 'body' }]);
  }

  return {
    /** Names of the substituted credentials. */
    get used() {
      return [...used];
    },
    header: substituteInHeader,
    /** Path and query, in origin form. */
    target(target: string): string {
      const at = target.indexOf('?');
      const path = substitute(at < 0 ? target : target.slice(0, at), encodeInPath, () => () => [{ place: 'path' }]);
      return at < 0
        ? path
        : `${path}?${substituteInPairs(target.slice(at + 1), '&', encodeInQuery, locateInParameter)}`;
    },
    body(body: Buffer, contentType: string): Buffer {
      const text = body.toString('latin1');
      const substituted = substituteInBody(text, contentType);
      return substituted === text ? body : Buffer.from(substituted, 'latin1');
    },
  };
}

const locateInParameter: Locate = (pair) => (placeholder) => [
  { place: 'query', name: findParameterName(pair, placeholder) },
];
const locateInFields: Locate = (json) => {
  const findNames = findJsonFields(json);
  return (placeholder) => findNames(placeholder).map((name) => ({ place: 'body', name }));
};
const locateInForm: Locate = (pair) => (placeholder) => [{ place: 'body', name: findParameterName(pair, placeholder) }];
const locateInCookie: Locate = (pair) => (placeholder) => [
  { place: 'cookie', name: findCookieName(pair, placeholder) },
];

/** Replaces placeholders in data that outlives a run, since each attempt has new ones. */
export const replacePlaceholdersByNames = (text: string, credentials: EgressCredential[]): string =>
  // Bounded: a target of HEAD_BYTES_MAX (64 KB) is searched for 64 placeholders (CREDENTIALS_MAX).
  credentials.reduce(
    (substituted, { name, placeholder }) => substituted.replaceAll(placeholder, () => `{${name}}`),
    text,
  );

const BASIC = /^(Basic) +([A-Za-z0-9+/]+={0,2})$/i;
const toLatin1 = (text: string) => Buffer.from(text).toString('latin1');
const encodePlain: Encode = (value) => value;

/** A line break in the value would begin another header. */
const encodeInHeader: Encode = (value) => {
  try {
    validateHeaderValue('x', toLatin1(value));
    return value;
  } catch {
    throw new EgressRefusedError(
      502,
      'a credential value contains control characters, which headers cannot contain',
      FAILED,
    );
  }
};

/** Leaves characters that a path segment may contain (RFC 3986, section 3.3): some services expect a colon in it. */
const encodeInPath: Encode = (value) =>
  encodeURIComponent(value).replace(/%(?:3A|40|24|26|2B|2C|3B|3D)/g, (escaped) => decodeURIComponent(escaped));

const encodeInQuery: Encode = encodeURIComponent;
const encodeInJson: Encode = (value) => JSON.stringify(value).slice(1, -1);
const FORM = /^application\/x-www-form-urlencoded\b/i;
const JSON_TYPE = /^application\/(?:[a-z0-9.-]+\+)?json\b/i;

/** All encoders of values in requests: responses are searched for the output of each. */
export const ENCODERS: Record<string, Encode> = {
  plain: encodePlain,
  plainInHeader: encodeInHeader,
  inPath: encodeInPath,
  inQuery: encodeInQuery,
  inJson: encodeInJson,
};
