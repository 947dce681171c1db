/** The hosts that the code of a worker may reach. Only public addresses are ever reached, whatever a rule says. */

import { parseHosts } from '@gantry/vault';
import { z } from 'zod';

export type NetworkRule =
  /** Every public address. */
  'public' | 'none' | { allow: string[] };

const HOSTS_MAX = 100;

const allowRule = z.strictObject({ allow: z.array(z.string()).min(1).max(HOSTS_MAX) });

/** Says what is wrong at its own place, where a union would say only that no form fits. */
export const networkRule = z.unknown().transform((value, context): NetworkRule => {
  if (value === 'public' || value === 'none') return value;
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    context.addIssue('must be "public", "none" or {"allow": [hosts]}');
    return z.NEVER;
  }
  const rule = allowRule.safeParse(value);
  if (!rule.success) {
    for (const issue of rule.error.issues)
      context.issues.push({ ...issue, input: value } as (typeof context.issues)[0]);
    return z.NEVER;
  }
  const { hosts, problems } = parseHosts(rule.data.allow, 'allow');
  for (const { path, message } of problems) {
    context.addIssue({ code: 'custom', message, path: path.split('.') });
  }
  return problems.length ? z.NEVER : { allow: hosts };
});
