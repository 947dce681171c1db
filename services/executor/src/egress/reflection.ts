/** Removes the value of a credential from the responses of its own hosts. */
import { type Transform, Transform as TransformStream } from 'node:stream';
import { createReplacements, openReplacing, type RedactedStream, type Replacements } from '@gantry/masking';
import type { EgressCredential } from './placeholders';

export type Search = RedactedStream;

export interface Reflection {
  /** Latin1, like headers. */
  text(text: string): string;
  bytes(body: Buffer): Buffer;
  /** Replaces each found byte by an asterisk. */
  asterisks(body: Buffer): Buffer;
  /** Searches one body or message in pieces. */
  search(): Search;
  /** @param keepLength as `asterisks`, for bodies whose length was announced */
  stream(keepLength: boolean): Transform;
}

/** Opens the redaction of one request. @param onFound called for each value in the response */
export type OpenReflection = (onFound: () => void) => Reflection;

/** Searches for all credentials of a run: its hosts may share what they have seen. Built at first use. */
export function createReflection(credentials: EgressCredential[]): OpenReflection {
  let known: Replacements | null | undefined;
  const findKnown = (): Replacements | null => {
    if (known === undefined)
      known = createReplacements(credentials.map(({ value, placeholder: by }) => ({ value, by })));
    return known;
  };
  return (onFound) => reflectWith(findKnown, onFound);
}

function reflectWith(findKnown: () => Replacements | null, onReplaced: () => void): Reflection {
  function open(keepLength: boolean): Search {
    const known = findKnown();
    if (known) return openReplacing(known, { keepLength, onReplaced });
    return { push: (chunk) => chunk, end: () => Buffer.alloc(0) };
  }

  function whole(body: Buffer, keepLength: boolean): Buffer {
    const search = open(keepLength);
    return Buffer.concat([search.push(body), search.end()]);
  }

  return {
    bytes: (body) => whole(body, false),
    asterisks: (body) => whole(body, true),
    text: (text) => whole(Buffer.from(text, 'latin1'), false).toString('latin1'),
    search: () => open(false),
    stream(keepLength) {
      const search = open(keepLength);
      return new TransformStream({
        transform: (chunk: Buffer, _, done) => done(null, search.push(chunk)),
        flush: (done) => done(null, search.end()),
      });
    },
  };
}
