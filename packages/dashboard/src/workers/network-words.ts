import type { Worker } from '../shell/api';

export type NetworkRule = Worker['network'];

export const NETWORK_WORDS = { public: 'Any public address', none: 'No network' } as const;

/** The whole rule: "No network", or every host. */
export const networkWords = (rule: NetworkRule): string =>
  typeof rule === 'string' ? NETWORK_WORDS[rule] : rule.allow.join(', ');

/** The rule in words for the head of a page; null for the usual rule. */
export function narrowNetwork(rule: NetworkRule): string | null {
  if (rule === 'public') return null;
  if (rule === 'none') return NETWORK_WORDS.none;
  const [first = '', ...others] = rule.allow;
  return others.length === 0 ? `Reaches ${first} alone` : `Reaches ${rule.allow.length} hosts alone`;
}
