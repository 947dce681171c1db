/** Restrictions of a token: as requests write them, as rows keep them, and how little a token's tokens may have. */

import { forbidden } from '@gantry/errors';
import { type Restriction, restriction } from '@gantry/events';
import type { OperationCall } from '@gantry/http';
import type { Principal } from '@gantry/limits';
import { z } from 'zod';
import type { Token } from '../../generated/prisma/client';

export type RestrictionInput = NonNullable<OperationCall<'worker', 'createPersonalToken'>['body']['restrict']>;

/** Tokens that make tokens, each with a budget below the last: more than this is a mistake. */
const BUDGETS_MAX = 10;

/**
 * The form under which a restricted token is hashed. A replica of a version that knows no restrictions does not find
 * it, and so refuses what it could not enforce.
 */
export const toRestrictedHashInput = (token: string): string => `restricted ${token}`;

/** Null where it restricts nothing. @param tokenId of the token that gets it */
export function toRestriction(input: RestrictionInput | undefined, tokenId: string): Restriction | null {
  const { workers, automations, toolsets, readonly, require_approval, budget_usd: usd } = input ?? {};
  const rules: Restriction = {
    ...(workers && { workers: [...new Set(workers)] }),
    ...(automations && { automations: [...new Set(automations)] }),
    ...(toolsets && { toolsets: [...new Set(toolsets)] }),
    ...(readonly && { readonly }),
    ...(require_approval && { requireApproval: require_approval }),
    ...(usd !== undefined && { budgets: [{ tokenId, usd }] }),
  };
  return Object.keys(rules).length ? rules : null;
}

/**
 * The restriction that was asked for, within that of the token that asks: each rule that is left out is inherited.
 * @throws AppError 403 naming the field that asks for more
 */
export function narrowRestriction(requested: Restriction | null, creator: Restriction | null): Restriction | null {
  if (!creator) return requested;
  const rules = requested ?? {};
  const toolsets = narrowIds('toolsets', rules.toolsets, creator.toolsets);
  const budgets = narrowBudgets(rules.budgets, creator.budgets);
  return {
    ...narrowResources(rules, creator),
    ...(toolsets && { toolsets }),
    ...((rules.readonly ?? creator.readonly) && { readonly: true }),
    ...((rules.requireApproval ?? creator.requireApproval) && { requireApproval: true }),
    ...(budgets && { budgets }),
  };
}

/** Both lists together: a token for named workers is for no automation that it does not name. */
function narrowResources(requested: Restriction, creator: Restriction): Pick<Restriction, 'workers' | 'automations'> {
  const { workers, automations } = creator;
  const isLimited = workers !== undefined || automations !== undefined;
  const asksForSome = requested.workers !== undefined || requested.automations !== undefined;
  const source = asksForSome ? requested : creator;
  const named = {
    ...(source.workers && { workers: source.workers }),
    ...(source.automations && { automations: source.automations }),
  };
  if (isLimited && asksForSome) {
    narrowIds('workers', named.workers, workers ?? []);
    narrowIds('automations', named.automations, automations ?? []);
  }
  return named;
}

/** @throws AppError 403 */
function narrowIds(rule: string, requested: string[] | undefined, creator: string[] | undefined): string[] | undefined {
  // Bounded: 100 ids of each (TokenRestriction of the OpenAPI document).
  const unknownId = creator && requested?.find((one) => !creator.includes(one));
  if (unknownId !== undefined) throw createWiderThanCreatorError(rule, `"${unknownId}" is not allowed for this token`);
  return requested ?? creator;
}

function narrowBudgets(requested: Restriction['budgets'], creator: Restriction['budgets']): Restriction['budgets'] {
  if (!creator) return requested;
  const lowestUsd = Math.min(...creator.map(({ usd }) => usd));
  if (requested?.some(({ usd }) => usd > lowestUsd))
    throw createWiderThanCreatorError('budget_usd', `this token's budget is ${lowestUsd} USD`);
  const budgets = [...creator, ...(requested ?? [])];
  if (budgets.length > BUDGETS_MAX)
    throw createWiderThanCreatorError('budget_usd', `a chain of tokens can have at most ${BUDGETS_MAX} budgets`);
  return budgets;
}

/** @throws AppError 403 for a rule that is said not to hold, which the token that asks has */
export function requireInheritedRules(input: RestrictionInput | undefined, creator: Restriction | null): void {
  if (input?.readonly === false && creator?.readonly)
    throw createWiderThanCreatorError('readonly', 'this token is read-only');
  if (input?.require_approval === false && creator?.requireApproval) {
    throw createWiderThanCreatorError('require_approval', "this token's own runs require approval");
  }
}

const createWiderThanCreatorError = (rule: string, reason: string) =>
  forbidden(
    'wider_than_maker',
    `restrict.${rule}: a token can't create a token with broader rights than its own; ${reason}`,
  );

/** Restriction in a token's row. @throws ZodError for a rule that this version does not know */
export const parseRestriction = (token: Pick<Token, 'restriction'>): Restriction | null =>
  token.restriction === null ? null : restriction.parse(token.restriction);

/** For lists, which show what this version knows of a token that a later one has made. */
const knownRestriction = z.object(restriction.shape).nullable();
export const parseKnownRules = (token: Pick<Token, 'restriction'>): Restriction | null =>
  knownRestriction.parse(token.restriction);

export const hasOwnBudget = (token: Pick<Token, 'id' | 'restriction'>): boolean =>
  parseKnownRules(token)?.budgets?.some(({ tokenId }) => tokenId === token.id) ?? false;

/** Null for a token that only its role limits. */
export function restrictionToApi(rules: Restriction | null) {
  if (!rules) return null;
  const { workers, automations, toolsets, readonly, requireApproval, budgets } = rules;
  return {
    workers: workers ?? null,
    automations: automations ?? null,
    toolsets: toolsets ?? null,
    readonly: readonly ?? false,
    require_approval: requireApproval ?? false,
    budget_usd: budgets ? Math.min(...budgets.map(({ usd }) => usd)) : null,
  };
}

/** Restriction of the token that calls. */
export const callerRestrictionToApi = ({ restriction }: Principal) => restrictionToApi(restriction ?? null);
