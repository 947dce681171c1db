import type { Request } from 'express';

/** A parameter of the path that the OpenAPI file has already checked. */
export function pathParam(req: Request, name: string): string {
  const value = req.params[name];
  if (typeof value !== 'string') throw new Error(`operation ${req.operation?.id} has no parameter ${name}`);
  return value;
}
