import { randomBytes } from 'node:crypto';

/** `prefix` + 21 url-safe random characters (126 bits). */
export function newId(prefix: string): string {
  return prefix + randomBytes(16).toString('base64url').slice(0, 21);
}
