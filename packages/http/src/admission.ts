/** Checks authentication, rate limits and roles before a body is read. */
import type { Request, Response } from 'express';
import { AppError, forbidden, notFound } from './errors';
import type { Operation } from './openapi-document';
import { hasRoleAtLeast, type Principal } from './principal';
import type { RateLimiter } from './rate-limit';
import { assertUnrestricted } from './restriction';

/** @param params of the path; null where it is malformed. @throws AppError 401, 403, 404, 429, 503 */
export type Admit = (
  operation: Operation,
  params: Record<string, string> | null,
  req: Request,
  res: Response,
) => Promise<void>;

export function createAdmission(authenticate: (req: Request) => Promise<Principal | null>, budget: RateLimiter): Admit {
  /** A bad credential consumes its address' budget, which limits guessing. */
  async function identify(operation: Operation, req: Request, res: Response): Promise<Principal | null> {
    budget.assertMayGuess(req, res);
    try {
      return await authenticate(req);
    } catch (err) {
      if (!(err instanceof AppError) || err.kind === 'unavailable') budget.show(req, res);
      else if (err.kind === 'forbidden') budget.spend(operation, req, res);
      else budget.spendOnGuess(operation, req, res);
      throw err;
    }
  }

  return async (operation, params, req, res) => {
    const { access } = operation;
    if (access === 'public') return budget.spend(operation, req, res);
    const principal = await identify(operation, req, res);
    if (principal) req.principal = principal;
    else if (access !== 'optional') {
      budget.spendOnAddress(req, res);
      throw new AppError('unauthorized', 'no_credential', 'sign in, or send a token: "Authorization: Bearer <token>"');
    }
    budget.spend(operation, req, res);
    if (principal && operation.workspaceFromPath)
      req.principal = switchToPathWorkspace(principal, params?.workspace_id ?? '');
    requireRole(access, req.principal);
    if (req.principal?.restriction) assertUnrestricted(req.principal.restriction, operation, params);
  };
}

function requireRole(access: Operation['access'], principal: Principal | undefined): void {
  if (access === 'public' || access === 'optional' || access === 'account' || access === 'user') return;
  if (principal && hasRoleAtLeast(principal.role, access)) return;
  throw forbidden('role_too_low', `this needs the role ${access} in the workspace; yours is ${principal?.role}`);
}

/** Returns the caller with the workspace that the path names and the role there. @throws AppError 404 */
function switchToPathWorkspace(principal: Principal, workspaceId: string): Principal {
  const role = Object.hasOwn(principal.memberships, workspaceId) ? principal.memberships[workspaceId] : undefined;
  if (!role) throw notFound('workspace', workspaceId, 'that you are a member of');
  return { ...principal, workspaceId, role };
}

/** Returns the caller of an operation that requires a credential. */
export function getCaller(req: Request): Principal {
  if (!req.principal) throw new Error(`operation ${req.operation?.id} has no principal: is its x-access right?`);
  return req.principal;
}
