/** Checks authentication, rate limits and roles before a body is read. */

import { AppError, forbidden, notFound } from '@gantry/errors';
import { roles } from '@gantry/events';
import type { Request, Response } from 'express';
import { hasRoleAtLeast, type Principal } from './principal';
import type { RateLimitedOperation, RateLimiter } from './rate-limit';
import { assertAllowedByRestriction, type RestrictedOperation } from './restriction';
import './request';

/**
 * Permitted callers of an operation. `public`: all, credentials are ignored. `optional`: all; an authenticated caller may
 * get more. `account`: any valid credential, also of a user without a workspace. `user`: any valid credential, whatever
 * the workspace. A role: that role or a higher one in the request's workspace.
 */
export const accessRules = ['public', 'optional', 'account', 'user', ...roles] as const;

export type AccessRule = (typeof accessRules)[number];

/** The fields of an operation by which a request is admitted. */
interface OperationAccess extends RestrictedOperation, RateLimitedOperation {
  access: AccessRule;
  workspaceFromPath: boolean;
}

/** @param params of the path; null where it is malformed. @throws AppError 401, 403, 404, 429, 503 */
export type Admit = (
  operation: OperationAccess,
  params: Record<string, string> | null,
  req: Request,
  res: Response,
) => Promise<void>;

export function createAdmission(authenticate: (req: Request) => Promise<Principal | null>, budget: RateLimiter): Admit {
  /** A bad credential consumes its address' budget, which limits guessing. */
  async function identify(operation: OperationAccess, req: Request, res: Response): Promise<Principal | null> {
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
    if (req.principal?.restriction) assertAllowedByRestriction(req.principal.restriction, operation, params);
  };
}

function requireRole(access: AccessRule, principal: Principal | undefined): void {
  if (access === 'public' || access === 'optional' || access === 'account' || access === 'user') return;
  if (principal && hasRoleAtLeast(principal.role, access)) return;
  throw forbidden('role_too_low', `this requires the ${access} role in the workspace; your role is ${principal?.role}`);
}

/** Returns the caller with the workspace that the path names and the role there. @throws AppError 404 */
function switchToPathWorkspace(principal: Principal, workspaceId: string): Principal {
  const role = Object.hasOwn(principal.memberships, workspaceId) ? principal.memberships[workspaceId] : undefined;
  if (!role) throw notFound('workspace', workspaceId, 'that you are a member of');
  return { ...principal, workspaceId, role };
}
