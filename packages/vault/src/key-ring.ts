/** Versioned 256-bit keys from one environment variable: `v1:<base64>,v2:<base64>`; the last one is current. */
import { hkdfSync } from 'node:crypto';
import { z } from 'zod';

export interface KeyRing {
  /** The version for new data. */
  current: string;
  /** Every key that existing data may still need, by version. */
  keys: ReadonlyMap<string, Buffer>;
}

const KEY_BYTES = 32;
const VERSION = /^[A-Za-z0-9_-]{1,32}$/;

/** @throws Error naming every invalid entry by position and version, never by its key. */
export function parseKeyRing(text: string): KeyRing {
  const keys = new Map<string, Buffer>();
  const problems: string[] = [];
  let current = '';
  for (const [index, entry] of text.split(',').entries()) {
    const [version = '', encoded = ''] = entry.trim().split(':', 2);
    const key = Buffer.from(encoded, 'base64');
    // Without a colon the version could be the key itself.
    if (!VERSION.test(version) || !encoded) problems.push(`entry ${index + 1} does not have the form "v1:<base64>"`);
    else if (keys.has(version)) problems.push(`version ${version} appears twice`);
    else if (key.length !== KEY_BYTES)
      problems.push(
        `key ${version} has ${key.length} bytes instead of ${KEY_BYTES}: create one with openssl rand -base64 32`,
      );
    keys.set(version, key);
    current = version;
  }
  if (problems.length) throw new Error(problems.join('; '));
  return { current, keys };
}

/** Keys for another purpose, with the same versions: one of them reveals nothing about the ring or about another purpose's keys. */
export function deriveKeys({ current, keys }: KeyRing, purpose: string): KeyRing {
  const derived = [...keys].map(
    ([version, key]) => [version, Buffer.from(hkdfSync('sha256', key, '', `gantry ${purpose}`, KEY_BYTES))] as const,
  );
  return { current, keys: new Map(derived) };
}

/** For env.ts: a zod type that parses a key ring and reports its problems. */
export const keyRing = z.string().transform((text, context): KeyRing => {
  try {
    return parseKeyRing(text);
  } catch (err) {
    context.addIssue({ code: 'custom', message: (err as Error).message });
    return z.NEVER;
  }
});
