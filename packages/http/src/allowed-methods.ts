import { AppError } from '@gantry/errors';
import type { Request, RequestHandler, Response } from 'express';

/** Sets the response's `Allow` header to the methods of `path`. @returns a 405 */
export function methodNotAllowed(req: Request, res: Response, path: string, allowed: readonly string[]): AppError {
  res.set('Allow', allowed.join(', '));
  return new AppError('method_not_allowed', 'method_not_allowed', `${path}: ${req.method} method not allowed`);
}

/** Rejects methods other than GET and HEAD on a path outside of the API. */
export const requireReadMethod: RequestHandler = (req, res, next) => {
  if (!READ_METHODS.includes(req.method))
    throw methodNotAllowed(req, res, req.originalUrl.split('?', 1)[0] as string, READ_METHODS);
  next();
};

const READ_METHODS = ['GET', 'HEAD'];
