/** Puts the values of credentials where their placeholders stand in a request. */
import { validateHeaderValue } from 'node:http';
import type { JobCredential } from '@gantry/events';
import { FAILED, LIMIT, Refused } from './refused';

export type EgressCredential = Pick<JobCredential, 'name' | 'placeholder' | 'value' | 'hosts' | 'inBody'>;

/** Every placeholder could stand for 16 KB: a request must not grow beyond this by more than its own size. */
const ADDED_BYTES_MAX = 1 << 20;

type Encode = (value: string) => string;

/** One request's substitutions. All texts are latin1, as Node has heads: a character is a byte. */
export interface Substitution {
  /** Names of the credentials that were put in. */
  readonly used: string[];
  header(name: string, value: string): string;
  /** Path and query, in origin form. */
  target(target: string): string;
  body(body: Buffer, contentType: string): Buffer;
}

export function substitutionOf(credentials: EgressCredential[]): Substitution {
  const used = new Set<string>();
  let bytesLeft = ADDED_BYTES_MAX;

  function put(text: string, encode: Encode, among = credentials): string {
    let result = text;
    for (const { name, placeholder, value } of among) {
      if (!result.includes(placeholder)) continue;
      const encoded = bytesOf(encode(value));
      const pieces = result.split(placeholder);
      bytesLeft -= (pieces.length - 1) * encoded.length;
      if (bytesLeft < 0) throw new Refused(413, 'the request has too many placeholders', LIMIT);
      result = pieces.join(encoded);
      used.add(name);
    }
    return result;
  }

  function header(name: string, value: string): string {
    const [, scheme, encoded] = (name === 'authorization' && BASIC.exec(value)) || [];
    if (!scheme || !encoded) return put(value, plainInHeader);
    const pair = Buffer.from(encoded, 'base64').toString('latin1');
    const known = put(pair, plain);
    return known === pair ? value : `${scheme} ${Buffer.from(known, 'latin1').toString('base64')}`;
  }

  return {
    get used() {
      return [...used];
    },
    header,
    target(target) {
      const at = target.indexOf('?');
      if (at < 0) return put(target, inPath);
      return `${put(target.slice(0, at), inPath)}?${put(target.slice(at + 1), encodeURIComponent)}`;
    },
    body(body, contentType) {
      const among = credentials.filter(({ inBody }) => inBody);
      const text = body.toString('latin1');
      const known = put(text, encoderFor(contentType), among);
      return known === text ? body : Buffer.from(known, 'latin1');
    },
  };
}

/** For what outlives a run: placeholders are new with each attempt. */
export const namedPlaceholders = (text: string, credentials: EgressCredential[]): string =>
  credentials.reduce((known, { name, placeholder }) => known.replaceAll(placeholder, () => `{${name}}`), text);

const BASIC = /^(Basic) +([A-Za-z0-9+/]+={0,2})$/i;
const bytesOf = (text: string) => Buffer.from(text).toString('latin1');
const plain: Encode = (value) => value;

/** A line break in the value would begin another header. */
const plainInHeader: Encode = (value) => {
  try {
    validateHeaderValue('x', bytesOf(value));
    return value;
  } catch {
    throw new Refused(502, 'the value of a credential has control characters, which no header can have', FAILED);
  }
};

/** Leaves what a path segment may have (RFC 3986, section 3.3): some services expect a colon in it. */
const inPath: Encode = (value) =>
  encodeURIComponent(value).replace(/%(?:3A|40|24|26|2B|2C|3B|3D)/g, (escaped) => decodeURIComponent(escaped));

function encoderFor(contentType: string): Encode {
  if (/^application\/x-www-form-urlencoded\b/i.test(contentType)) return encodeURIComponent;
  if (/^application\/(?:[a-z0-9.-]+\+)?json\b/i.test(contentType)) return (value) => JSON.stringify(value).slice(1, -1);
  return plain;
}
