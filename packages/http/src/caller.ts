import type { Principal } from '@gantry/limits';
import type { Request } from 'express';
import './request';

/** Returns the caller of an operation that requires a credential. */
export function getCaller(req: Request): Principal {
  if (!req.principal) throw new Error(`operation ${req.operation?.id} has no principal: check its x-access`);
  return req.principal;
}
