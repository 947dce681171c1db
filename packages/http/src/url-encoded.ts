/** Parses bodies of `application/x-www-form-urlencoded` for OAuth endpoints. */

import { AppError } from '@gantry/errors';
import type { Request } from 'express';
import { readBodyBytes } from './upload';

const BYTES_MAX = 32 * 1024;

/**
 * Returns parameters by name; one without a value counts as omitted (RFC 6749, 3.2).
 * @throws AppError 400 for a repeated one or one with NUL, 408, 413, 415
 */
export async function readUrlEncodedBody(req: Request): Promise<Record<string, string>> {
  const { 'content-encoding': encoding = 'identity' } = req.headers;
  if (encoding !== 'identity') {
    throw new AppError('unsupported_type', 'unsupported_encoding', 'send the form without Content-Encoding');
  }
  const params = new Map<string, string>();
  for (const [name, value] of new URLSearchParams((await readBodyBytes(req, BYTES_MAX)).toString('utf8'))) {
    const shortName = name.slice(0, 64);
    if (params.has(name)) throw new AppError('invalid', 'invalid_request', `${shortName}: appears twice`);
    if (value.includes('\0')) throw new AppError('invalid', 'invalid_request', `${shortName}: contains NUL`);
    if (value !== '') params.set(name, value);
  }
  return Object.fromEntries(params);
}
