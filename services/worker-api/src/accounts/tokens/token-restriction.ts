/** Restrictions of a token: as requests write them, as rows keep them, and how little a token's tokens may have. */
import { type Restriction, restriction } from '@gantry/events';
import { forbidden, type OperationCall, type Principal } from '@gantry/http';
import { z } from 'zod';
import type { Token } from '../../generated/prisma/client';

export type AskedRestriction = NonNullable<OperationCall<'worker', 'createPersonalToken'>['body']['restrict']>;

/** Tokens that make tokens, each with a budget below the last: more than this is a mistake. */
const BUDGETS_MAX = 10;

/**
 * The form under which a restricted token is hashed. A replica of a version that knows no restrictions does not find
 * it, and so refuses what it could not enforce.
 */
export const toRestrictedForm = (token: string): string => `restricted ${token}`;

/** Null where it restricts nothing. @param tokenId of the token that gets it */
export function toRestriction(asked: AskedRestriction | undefined, tokenId: string): Restriction | null {
  const { workers, automations, toolsets, readonly, require_approval, budget_usd: usd } = asked ?? {};
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
export function narrowRestriction(wanted: Restriction | null, maker: Restriction | null): Restriction | null {
  if (!maker) return wanted;
  const rules = wanted ?? {};
  const toolsets = within('toolsets', rules.toolsets, maker.toolsets);
  const budgets = withinBudgets(rules.budgets, maker.budgets);
  return {
    ...narrowResources(rules, maker),
    ...(toolsets && { toolsets }),
    ...((rules.readonly ?? maker.readonly) && { readonly: true }),
    ...((rules.requireApproval ?? maker.requireApproval) && { requireApproval: true }),
    ...(budgets && { budgets }),
  };
}

/** Both lists together: a token for named workers is for no automation that it does not name. */
function narrowResources(wanted: Restriction, maker: Restriction): Pick<Restriction, 'workers' | 'automations'> {
  const { workers, automations } = maker;
  const isLimited = workers !== undefined || automations !== undefined;
  const asksForSome = wanted.workers !== undefined || wanted.automations !== undefined;
  const source = asksForSome ? wanted : maker;
  const named = {
    ...(source.workers && { workers: source.workers }),
    ...(source.automations && { automations: source.automations }),
  };
  if (isLimited && asksForSome) {
    within('workers', named.workers, workers ?? []);
    within('automations', named.automations, automations ?? []);
  }
  return named;
}

/** @throws AppError 403 */
function within(rule: string, wanted: string[] | undefined, maker: string[] | undefined): string[] | undefined {
  // Bounded: 100 ids of each (TokenRestriction of the OpenAPI document).
  const more = maker && wanted?.find((one) => !maker.includes(one));
  if (more !== undefined) throw tooWide(rule, `"${more}" is not among its own`);
  return wanted ?? maker;
}

function withinBudgets(wanted: Restriction['budgets'], maker: Restriction['budgets']): Restriction['budgets'] {
  if (!maker) return wanted;
  const least = Math.min(...maker.map(({ usd }) => usd));
  if (wanted?.some(({ usd }) => usd > least)) throw tooWide('budget_usd', `its own budget is ${least} USD`);
  const budgets = [...maker, ...(wanted ?? [])];
  if (budgets.length > BUDGETS_MAX)
    throw tooWide('budget_usd', `tokens with budgets make at most ${BUDGETS_MAX} in a row`);
  return budgets;
}

/** @throws AppError 403 for a rule that is said not to hold, which the token that asks has */
export function requireKept(asked: AskedRestriction | undefined, maker: Restriction | null): void {
  if (asked?.readonly === false && maker?.readonly) throw tooWide('readonly', 'it may only read itself');
  if (asked?.require_approval === false && maker?.requireApproval) {
    throw tooWide('require_approval', 'its own runs need approval');
  }
}

const tooWide = (rule: string, why: string) =>
  forbidden('wider_than_maker', `restrict.${rule}: a token can't create one that may do more than itself; ${why}`);

/** Restriction in a token's row. @throws ZodError for a rule that this version does not know */
export const parseRestriction = (token: Pick<Token, 'restriction'>): Restriction | null =>
  token.restriction === null ? null : restriction.parse(token.restriction);

/** For lists, which show what this version knows of a token that a later one has made. */
const known = z.object(restriction.shape).nullable();
export const parseKnownRules = (token: Pick<Token, 'restriction'>): Restriction | null =>
  known.parse(token.restriction);

export const hasOwnBudget = (token: Pick<Token, 'id' | 'restriction'>): boolean =>
  parseKnownRules(token)?.budgets?.some(({ tokenId }) => tokenId === token.id) ?? false;

/** Null for a token that only its role limits. */
export function restrictToApi(rules: Restriction | null) {
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
export const restrictOfCaller = ({ restriction }: Principal) => restrictToApi(restriction ?? null);
