import type { Worker } from '../shell/api';

export type NetworkRule = Worker['network'];

export const NETWORK_LABELS = { public: 'Any public address', none: 'No network access' } as const;

/** Formats the whole rule: "No network", or every host. */
export const formatNetworkRule = (rule: NetworkRule): string =>
  typeof rule === 'string' ? NETWORK_LABELS[rule] : rule.allow.join(', ');

/** Formats the rule for the head of a page; null for the default rule. */
export function formatNetworkRestriction(rule: NetworkRule): string | null {
  if (rule === 'public') return null;
  if (rule === 'none') return NETWORK_LABELS.none;
  const [first = '', ...others] = rule.allow;
  return others.length === 0
    ? `Network access limited to ${first}`
    : `Network access limited to ${rule.allow.length} hosts`;
}
