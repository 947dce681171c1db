/** Restrictions of a token below its role: in the form, in the API, and as text. */
import { TOOLSET_LABELS, type Toolset } from '../../accounts/toolsets';
import type { Token, TokenRestriction } from '../../shell/api';
import { formatDollars } from '../../ui/format';
import type { Option } from '../../ui/search-select';

export interface Restriction {
  workers: Option[];
  automations: Option[];
  toolsets: Toolset[];
  readonly: boolean;
  requireApproval: boolean;
  /** The raw input. */
  budgetUsd: string;
}

export const UNRESTRICTED: Restriction = {
  workers: [],
  automations: [],
  toolsets: [],
  readonly: false,
  requireApproval: false,
  budgetUsd: '',
};

/** Converts the form's restriction to the API's; undefined if nothing is restricted. */
export function toRestrictionBody(restriction: Restriction): TokenRestriction | undefined {
  const { workers, automations, toolsets, readonly, requireApproval, budgetUsd } = restriction;
  const body: TokenRestriction = {
    ...(workers.length && { workers: workers.map(({ id }) => id) }),
    ...(automations.length && { automations: automations.map(({ id }) => id) }),
    ...(toolsets.length && { toolsets }),
    ...(readonly && { readonly }),
    ...(requireApproval && { require_approval: requireApproval }),
    ...(budgetUsd.trim() && { budget_usd: Number(budgetUsd) }),
  };
  return Object.keys(body).length ? body : undefined;
}

const NAMES_SHOWN = 3;

const joinNames = (names: readonly string[]): string =>
  names.length > NAMES_SHOWN
    ? `${names.slice(0, NAMES_SHOWN).join(', ')} and ${names.length - NAMES_SHOWN} more`
    : names.join(', ');

/** Returns a short text for each rule. */
export function describeRestriction({ restrict, spent_usd }: Pick<Token, 'restrict' | 'spent_usd'>): string[] {
  if (!restrict) return [];
  const { workers, automations, toolsets, readonly, require_approval, budget_usd } = restrict;
  return [
    ...(readonly ? ['Read-only'] : []),
    ...(workers ? [`Only ${workers.length === 1 ? 'this worker' : 'these workers'}: ${joinNames(workers)}`] : []),
    ...(automations
      ? [`Only ${automations.length === 1 ? 'this automation' : 'these automations'}: ${joinNames(automations)}`]
      : []),
    ...(toolsets ? [`Tools: ${toolsets.map((one) => TOOLSET_LABELS[one].toLowerCase()).join(', ')}`] : []),
    ...(require_approval ? ['Each run requires approval'] : []),
    ...(budget_usd === null
      ? []
      : [`${formatDollars(budget_usd)} budget${spent_usd ? `, ${formatDollars(spent_usd)} spent` : ''}`]),
  ];
}
