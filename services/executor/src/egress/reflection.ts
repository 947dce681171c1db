/** Keeps the value of a credential out of what its own hosts send back. */
import { type Transform, Transform as TransformStream } from 'node:stream';
import { openReplacing, type Replacements, replacementsOf } from '@gantry/masking';
import type { EgressCredential } from './placeholders';

export interface Reflection {
  /** Latin1, as heads are. */
  text(text: string): string;
  bytes(body: Buffer): Buffer;
  /** @param keepLength as many asterisks as bytes were found, for bodies whose length was announced */
  stream(keepLength: boolean): Transform;
}

/** Searches for all credentials of a run: its hosts may share what they have seen. Built at first use. */
export function reflectionOf(credentials: EgressCredential[]): Reflection {
  let known: Replacements | null | undefined;
  const replacements = () => {
    if (known === undefined) known = replacementsOf(credentials.map(({ value, placeholder: by }) => ({ value, by })));
    return known;
  };

  function bytes(body: Buffer): Buffer {
    const values = replacements();
    if (!values) return body;
    const replaced = openReplacing(values);
    return Buffer.concat([replaced.push(body), replaced.end()]);
  }

  return {
    bytes,
    text: (text) => bytes(Buffer.from(text, 'latin1')).toString('latin1'),
    stream(keepLength) {
      const values = replacements();
      const replaced = values && openReplacing(values, keepLength);
      return new TransformStream({
        transform: (chunk: Buffer, _, done) => done(null, replaced ? replaced.push(chunk) : chunk),
        flush: (done) => done(null, replaced?.end()),
      });
    },
  };
}
