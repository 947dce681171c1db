/** Removes the value of a credential from the responses of its own hosts. */
import { Transform } from 'node:stream';
import { createReplacementStream, createReplacements, type RedactedStream, type Replacements } from '@gantry/masking';
import type { EgressCredential } from './credential-substitution';

export type ResponseRedaction = ReturnType<typeof createRedactionOfValues>;

/** Opens the redaction of one request. @param onFound called for each value in the response */
export type CreateRedaction = (onFound: () => void) => ResponseRedaction;

/** Searches for all credentials of a run: its hosts may share what they have seen. Built at first use. */
export function createResponseRedaction(credentials: EgressCredential[]): CreateRedaction {
  let replacements: Replacements | null | undefined;
  const getReplacements = (): Replacements | null => {
    if (replacements === undefined)
      replacements = createReplacements(credentials.map(({ value, placeholder: by }) => ({ value, by })));
    return replacements;
  };
  return (onFound) => createRedactionOfValues(getReplacements, onFound);
}

function createRedactionOfValues(getReplacements: () => Replacements | null, onReplaced: () => void) {
  function createSearchStream(keepLength: boolean): RedactedStream {
    const replacements = getReplacements();
    if (replacements) return createReplacementStream(replacements, { keepLength, onReplaced });
    return { push: (chunk) => chunk, end: () => Buffer.alloc(0) };
  }

  function redactWhole(body: Buffer, keepLength: boolean): Buffer {
    const search = createSearchStream(keepLength);
    return Buffer.concat([search.push(body), search.end()]);
  }

  return {
    bytes: (body: Buffer) => redactWhole(body, false),
    /** Replaces each found byte by an asterisk. */
    asterisks: (body: Buffer) => redactWhole(body, true),
    /** Latin1, like headers. */
    text: (text: string) => redactWhole(Buffer.from(text, 'latin1'), false).toString('latin1'),
    /** Searches one body or message in pieces. */
    search: () => createSearchStream(false),
    /** @param keepLength as `asterisks`, for bodies whose length was announced */
    stream(keepLength: boolean) {
      const search = createSearchStream(keepLength);
      return new Transform({
        transform: (chunk: Buffer, _, done) => done(null, search.push(chunk)),
        flush: (done) => done(null, search.end()),
      });
    },
  };
}
