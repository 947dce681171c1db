import express, { type Request, type RequestHandler } from 'express';
import { AppError, invalid } from './errors';
import './request';

export const JSON_BYTES_MAX = 1024 * 1024;
const DEPTH_MAX = 64;
/** Keys that reach an object's prototype when a careless merge copies them (CVE-2026-44789 and its kin). */
const REFUSED_KEYS = new Set(['__proto__', 'constructor']);

/** Half of a UTF-16 pair is no text: PostgreSQL refuses it, and UTF-8 has no bytes for it. */
const HALF_CHARACTER = /\p{Surrogate}/u;

/** JSON bodies up to 1 MB, 64 levels deep, without keys that pollute prototypes and what can't be kept as it is. */
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
      if (req.body !== undefined) {
        refuseUnkeepable(req.body, '/body');
        refuseHostile(req.body);
      }
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
      const where = `${path}/${key}`;
      refuseUnkeepable(key, where);
      refuseUnkeepable(child, where);
      if (child !== null && typeof child === 'object') open.push({ value: child, path: where, depth: depth + 1 });
    }
  }
}

/** Else it would come back as something else: a replacement character, or null. @param pointer as `/body/name` */
function refuseUnkeepable(value: unknown, pointer: string): void {
  if (typeof value === 'string' && HALF_CHARACTER.test(value)) {
    throw unkeepable(pointer, 'contains half of a character (an unpaired surrogate)');
  }
  if (typeof value === 'number' && !Number.isFinite(value)) throw unkeepable(pointer, 'is too large for a number');
}

const unkeepable = (pointer: string, message: string) =>
  invalid([{ path: pointer.slice(1).replaceAll('/', '.'), message }]);
