/** Extracts the one credential of a request. */
import { AppError } from '@gantry/errors';
import type { Request } from 'express';
import { type OpaquePrefix, parseOpaqueToken } from './opaque-token';

export const SESSION_COOKIE = 'svc_cloud_session';

export type Credential =
  | { kind: 'token'; secret: string }
  | { kind: 'jwt'; secret: string }
  /** Attached by browsers automatically: unsafe methods must prove their origin. */
  | { kind: 'session'; secret: string };

/** Prefixes of tokens that every surface accepts. */
export const accountTokenPrefixes: readonly OpaquePrefix[] = ['svc_', 'wst_'];

const HEADER_BYTES_MAX = 4_096;
const JWT_SHAPE = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/**
 * A header is deliberate and a cookie is automatic, so the cookie counts only without a header. Two headers with
 * different credentials are refused rather than ranked: the second one may not be from the caller.
 * @param prefixes of the tokens accepted by this surface
 * @throws AppError 400 for a header that is duplicated, too long, or contradicted; 401 for a malformed credential
 */
export function parseCredential(req: Request, prefixes = accountTokenPrefixes): Credential | null {
  const token = getSingleHeader(req, 'x-svc-token')?.trim();
  const authorization = getSingleHeader(req, 'authorization');
  // `Basic` and its kin are for a proxy on the way; only a Bearer would be a second credential of ours.
  const bearer = token !== undefined && !isBearer(authorization) ? undefined : parseBearer(authorization);
  if (token !== undefined && bearer !== undefined && token !== bearer) {
    throw ambiguousCredentialError('x-svc-token and Authorization carry different credentials; send only one of them');
  }
  if (token !== undefined) {
    if (JWT_SHAPE.test(token)) {
      throw badCredentialError('x-svc-token: this is an access JWT; send it as "Authorization: Bearer <jwt>"');
    }
    return toTokenCredential(token, prefixes);
  }
  if (bearer !== undefined)
    return JWT_SHAPE.test(bearer) ? { kind: 'jwt', secret: bearer } : toTokenCredential(bearer, prefixes);
  const cookie = parseSessionCookie(req);
  return cookie === undefined ? null : { kind: 'session', secret: cookie };
}

/** The session cookie if it is well-formed. @throws AppError 400 if there are two, 401 if it is malformed */
export function parseSessionCookie(req: Request): string | undefined {
  const values = new Set<string>();
  for (const header of req.headersDistinct.cookie ?? []) {
    for (const pair of header.split(';')) {
      const [name, value = ''] = pair.trim().split('=', 2);
      if (name === SESSION_COOKIE && value) values.add(value);
    }
  }
  if (values.size > 1) throw ambiguousCredentialError(`the cookie ${SESSION_COOKIE} was sent twice`);
  const [value] = values;
  if (value === undefined) return undefined;
  if (parseOpaqueToken(value)?.prefix !== 'ses_')
    throw badCredentialError('the session cookie is malformed; sign in again');
  return value;
}

/** The value of a header that may appear only once. @throws AppError 400 */
export function getSingleHeader(req: Request, name: string): string | undefined {
  const values = req.headersDistinct[name];
  const [value] = values ?? [];
  if (values && values.length > 1) throw ambiguousCredentialError(`the header ${name} was sent twice`);
  if (value && value.length > HEADER_BYTES_MAX) {
    throw new AppError('invalid', 'header_too_long', `the header ${name} is longer than ${HEADER_BYTES_MAX} bytes`);
  }
  return value;
}

export const badCredentialError = (detail: string): AppError => new AppError('unauthorized', 'bad_credential', detail);

const ambiguousCredentialError = (detail: string) => new AppError('invalid', 'ambiguous_credential', detail);

const isBearer = (authorization = ''): boolean => /^Bearer( |$)/i.test(authorization);

function parseBearer(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const [, bearer] = /^Bearer +(\S+) *$/i.exec(authorization) ?? [];
  if (bearer === undefined) throw badCredentialError('Authorization: expected "Bearer <token>"');
  return bearer;
}

function toTokenCredential(text: string, prefixes: readonly OpaquePrefix[]): Credential {
  const prefix = parseOpaqueToken(text)?.prefix;
  if (!prefix || !prefixes.includes(prefix)) {
    const expected = prefixes.map((name) => `${name}...`).join(', ');
    throw badCredentialError(`this is not a token; send a complete token (${expected}) or an access JWT`);
  }
  return { kind: 'token', secret: text };
}
