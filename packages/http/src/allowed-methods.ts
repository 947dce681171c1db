import type { Request, RequestHandler, Response } from 'express';
import { AppError } from './errors';

/** @returns 405, and says in the answer's `Allow` which methods `path` has */
export function methodNotAllowed(req: Request, res: Response, path: string, allowed: readonly string[]): AppError {
  res.set('Allow', allowed.join(', '));
  return new AppError('method_not_allowed', 'method_not_allowed', `${path}: ${req.method} method not allowed`);
}

/** Refuses requests that do not read, for a path outside of the API. */
export const readOnly: RequestHandler = (req, res, next) => {
  if (!READS.includes(req.method)) throw methodNotAllowed(req, res, req.originalUrl.split('?', 1)[0] as string, READS);
  next();
};

const READS = ['GET', 'HEAD'];
