/** Names of a program's external requirements. */
import { DEPENDENCIES_MAX, parseDependency } from '@gantry/python-dependencies';
import { z } from 'zod';

const SECRETS_MAX = 50;

const secretName = z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/, 'must be an environment variable name like API_KEY');

const dependencyName = z.string().transform((text, issues) => {
  const parsed = parseDependency(text);
  if ('name' in parsed) return parsed.name;
  issues.addIssue({ code: 'custom', message: parsed.problem });
  return z.NEVER;
});

/** Each once. */
export const secretNames = z.array(secretName).max(SECRETS_MAX).transform(dedupeNames);
export const dependencyNames = z.array(dependencyName).max(DEPENDENCIES_MAX).transform(dedupeNames);

function dedupeNames(names: string[]): string[] {
  return [...new Set(names)];
}
