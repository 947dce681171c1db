/**
 * Enforces the rules of restricted tokens for HTTP, and for `/mcp` through HTTP. Each operation declares its effects in
 * the OpenAPI file (`x-restrict`); without a declaration it is closed to tokens with that restriction, so that a new
 * operation is closed by default (ADR 42).
 */

import { type AppError, forbidden } from '@gantry/errors';
import type { Restriction } from '@gantry/events';
import { z } from 'zod';
import type { Principal } from './principal';

/** Path parameters of the resources that a token may be restricted to. */
const PARAMETERS = { workers: 'worker_id', automations: 'automationId' } as const;

type RestrictableKind = keyof typeof PARAMETERS;

export const restrictDeclaration = z.strictObject({
  /**
   * `workers`, `automations`: it reads and changes only data of those that the caller may see, even if its path names
   * none; the service filters out the others. `none`: it concerns no data of the workspace. Absent: closed to tokens
   * for named workers or automations.
   */
  things: z.enum(['workers', 'automations', 'none']).optional(),
  /**
   * Toolsets of `/mcp` that it is behind. `any`: open whatever the toolsets are. Absent: closed to tokens with
   * toolsets.
   */
  toolsets: z.union([z.literal('any'), z.array(z.string())]).optional(),
  /**
   * `reads`: it changes nothing, like each GET. `starts`: it starts runs, which count against budgets and are held if
   * the token requires approval. `contained`: it changes data, but starts or resumes no run. Absent: it may start runs
   * that are neither counted nor held, so it is closed to tokens with a budget and to those that require approval.
   */
  effect: z.enum(['reads', 'starts', 'contained']).optional(),
});

export type RestrictDeclaration = z.infer<typeof restrictDeclaration>;

/** The fields of an operation by which a restriction allows or refuses it. */
export interface RestrictedOperation {
  id: string;
  method: string;
  restrict: RestrictDeclaration;
}

/** @param params of the path; null where it is malformed. @throws AppError 403 that names the rule */
export function assertAllowedByRestriction(
  restriction: Restriction,
  operation: RestrictedOperation,
  params: Record<string, string> | null,
): void {
  const refusal = findRestrictionError(restriction, operation) ?? findScopeError(restriction, operation, params ?? {});
  if (refusal) throw refusal;
}

/** Returns whether no rule closes the operation itself, whichever resource it is used for. */
export const isOperationAllowed = (restriction: Restriction | undefined, operation: RestrictedOperation): boolean =>
  !restriction || findRestrictionError(restriction, operation) === null;

/**
 * Returns ids of the workers or automations that the caller may see; null: all that its role permits. A token for named
 * workers reaches no automation, and vice versa.
 */
export function getTokenScope(
  { restriction }: Pick<Principal, 'restriction'>,
  kind: RestrictableKind,
): string[] | null {
  if (!restriction || !hasNamedResources(restriction)) return null;
  return restriction[kind] ?? [];
}

/** Intersects two restrictions; null: no restriction besides the role. */
export const intersectScopes = (one: string[] | null, other: string[] | null): string[] | null =>
  // Bounded: 100 ids of each (TokenRestriction of the OpenAPI document).
  one && other ? one.filter((id) => other.includes(id)) : (one ?? other);

/** Returns whether the caller's token reaches that worker or automation. */
export function isInTokenScope(principal: Pick<Principal, 'restriction'>, kind: RestrictableKind, id: string): boolean {
  return getTokenScope(principal, kind)?.includes(id) ?? true;
}

const hasNamedResources = ({ workers, automations }: Restriction): boolean =>
  workers !== undefined || automations !== undefined;

function findRestrictionError(
  restriction: Restriction,
  { id, method, restrict }: RestrictedOperation,
): AppError | null {
  const { readonly, toolsets, requireApproval, budgets } = restriction;
  const effect = restrict.effect ?? (method === 'get' || method === 'head' ? 'reads' : undefined);
  if (readonly && effect !== 'reads') return restrictedError('readonly', 'it is read-only');
  // Bounded: 20 toolsets (`maxItems` of TokenRestriction), and those of an operation.
  if (toolsets && restrict.toolsets !== 'any' && !restrict.toolsets?.some((one) => toolsets.includes(one))) {
    return restrictedError('toolsets', `${id} is not in any of its toolsets: ${toolsets.join(', ') || 'none'}`);
  }
  if (hasNamedResources(restriction) && !restrict.things) {
    const rule = restriction.workers ? 'workers' : 'automations';
    return restrictedError(
      rule,
      'it covers only certain workers and automations, and this request is not limited to them',
    );
  }
  if (requireApproval && !effect) {
    return restrictedError(
      'require_approval',
      'its runs need approval, and this request could let runs start or continue without approval',
    );
  }
  if (budgets && !effect) {
    return restrictedError(
      'budget_usd',
      'its runs have a budget, and this request could start runs outside that budget',
    );
  }
  return null;
}

function findScopeError(
  restriction: Restriction,
  { restrict }: RestrictedOperation,
  params: Record<string, string>,
): AppError | null {
  const { things } = restrict;
  if (!things || things === 'none') return null;
  const id = params[PARAMETERS[things]];
  if (id === undefined || isInTokenScope({ restriction }, things, id)) return null;
  return restrictedError(things, `it does not cover "${id.slice(0, 64)}"`);
}

const restrictedError = (rule: string, reason: string): AppError =>
  forbidden('restricted', `restrict.${rule}: this token is restricted; ${reason}`);
