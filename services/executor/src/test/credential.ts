import type { JobCredential } from '@gantry/events';

export const VALUE = 'real-value-4711/+=of the "token"';
export const PLACEHOLDER = `gph_${'Ab3'.repeat(10)}xy`;

export const buildCredential = (port: number, overrides: Partial<JobCredential> = {}): JobCredential => ({
  name: 'api',
  kind: 'connection',
  placeholder: PLACEHOLDER,
  value: VALUE,
  hosts: [`api.test:${port}`],
  places: ['header', 'query', 'path'],
  baseUrl: `https://api.test:${port}`,
  accountLabel: 'me@api',
  scopes: ['read'],
  ...overrides,
});

/** Asserts that a text contains neither the value nor any usual form of it. */
export function expectNoValue(value: unknown, secret = VALUE): void {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const bytes = Buffer.from(secret);
  for (const form of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
    expect(text.includes(form)).toBe(false);
  for (const encoding of ['base64', 'base64url', 'hex'] as const)
    expect(text.includes(bytes.toString(encoding).replace(/=+$/, ''))).toBe(false);
}
