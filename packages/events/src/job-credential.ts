/** Secrets and connections of a run: values for its code, or for the egress proxy alone. */
import { randomInt } from 'node:crypto';
import { z } from 'zod';

/**
 * `api.example.com`, or `*.example.com` for every name below it; behind a colon a port other than 443. In lower case.
 */
export const hostPattern = z
  .string()
  .max(260)
  .regex(/^(\*\.)?[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63}){0,10}(:[0-9]{1,5})?$/);

/** Parts of a request that may contain a value. `header` is every header but Cookie. */
export type CredentialPlace = 'header' | 'query' | 'path' | 'cookie' | 'body';
/** A place, or behind a colon one header, parameter, cookie or field of it. */
export const declaredPlace = z.string().regex(/^(path|(header|query|cookie|body)(:[A-Za-z0-9_.[\]-]{1,64})?)$/);
export const CREDENTIAL_PLACES_MAX = 20;
export const DEFAULT_CREDENTIAL_PLACES: readonly string[] = ['header'];

/** Credentials per job. */
export const CREDENTIALS_MAX = 64;
export const CREDENTIAL_CHARS_MAX = 16_384;

/**
 * The egress proxy puts `value` where `placeholder` stands, at `places` of requests to `hosts` alone. Code gets the
 * placeholder.
 */
export const jobCredential = z.object({
  /** `context.connections[name]`, or the environment variable of a secret. */
  name: z.string().min(1).max(128),
  kind: z.enum(['connection', 'secret']),
  /** New with each attempt. */
  placeholder: z.string().regex(/^gph_[A-Za-z0-9]{32}$/),
  value: z.string().min(1).max(CREDENTIAL_CHARS_MAX),
  hosts: z.array(hostPattern).min(1).max(64),
  places: z
    .array(declaredPlace)
    .max(CREDENTIAL_PLACES_MAX)
    .default([...DEFAULT_CREDENTIAL_PLACES]),
  /** For a connection: code gets `value`, not the placeholder. Absent: false. An exposed secret is among `secrets`. */
  exposed: z.boolean().optional(),
  /** For a connection. */
  baseUrl: z.string().nullable().default(null),
  accountLabel: z.string().nullable().default(null),
  scopes: z.array(z.string()).default([]),
});
export type JobCredential = z.infer<typeof jobCredential>;

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Returns 190 random bits: a placeholder never occurs by chance, and another run cannot guess it. */
export const newPlaceholder = (): string =>
  `gph_${Array.from({ length: 32 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')}`;

/**
 * Limit for the values of all secrets and credentials of one run together: masking precomputes every form of each of
 * them.
 */
export const SECRETS_BYTES_MAX = 64 * 1024;
export const measureSecretsBytes = (
  values: Record<string, string>,
  credentials: readonly JobCredential[] = [],
): number =>
  [...Object.values(values), ...credentials.map(({ value }) => value)].reduce(
    (sum, value) => sum + Buffer.byteLength(value),
    0,
  );
