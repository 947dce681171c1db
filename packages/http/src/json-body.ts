import express, { type Request, type RequestHandler } from 'express';
import { AppError } from './errors';
import './request';

export const JSON_BYTES_MAX = 1024 * 1024;
const DEPTH_MAX = 64;
/** Keys that reach an object's prototype when a careless merge copies them (CVE-2026-44789 and its kin). */
const REFUSED_KEYS = new Set(['__proto__', 'constructor']);

/** JSON bodies up to 1 MB, 64 levels deep, without keys that pollute prototypes. */
export function jsonBody(): RequestHandler[] {
  const parse = express.json({
    limit: JSON_BYTES_MAX,
    strict: false,
    verify: (req: Request, _res, bytes) => {
      req.rawBody = bytes;
    },
  });
  return [
    (req, _res, next) => {
      // `curl -X POST` sends neither a body nor its type. Where a body may be left out that is no wrong type.
      const { headers } = req;
      const isEmpty = !headers['transfer-encoding'] && !Number(headers['content-length']);
      if (isEmpty && headers['content-type'] === undefined) headers['content-type'] = 'application/json';
      next();
    },
    parse,
    (req, _res, next) => {
      if (req.body !== undefined) refuseHostile(req.body);
      next();
    },
  ];
}

function refuseHostile(body: unknown): void {
  const open: { value: unknown; path: string; depth: number }[] = [{ value: body, path: '', depth: 0 }];
  for (let item = open.pop(); item; item = open.pop()) {
    const { value, path, depth } = item;
    if (value === null || typeof value !== 'object') continue;
    if (depth >= DEPTH_MAX) {
      throw new AppError('invalid', 'too_deep', `the JSON body is nested deeper than ${DEPTH_MAX} levels`);
    }
    for (const [key, child] of Object.entries(value)) {
      if (REFUSED_KEYS.has(key)) {
        throw new AppError('invalid', 'refused_key', `${path}/${key}: this property name is not allowed`);
      }
      if (child !== null && typeof child === 'object')
        open.push({ value: child, path: `${path}/${key}`, depth: depth + 1 });
    }
  }
}
