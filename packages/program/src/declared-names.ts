/** Names of a program's external requirements. */
import { z } from 'zod';

/** PEP 508 without URLs, markers and options: a name, extras, versions. */
const DEPENDENCY =
  /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?(?:\[[A-Za-z0-9._,\s-]+\])?\s*(?:(?:===|==|~=|!=|<=|>=|<|>)\s*[A-Za-z0-9.*+!_-]+(?:\s*,\s*(?:===|==|~=|!=|<=|>=|<|>)\s*[A-Za-z0-9.*+!_-]+)*)?$/;
const DEPENDENCY_CHARS_MAX = 200;
const NAMES_MAX = 50;

const secretName = z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/, 'must be an environment variable name like API_KEY');

const dependencyName = z
  .string()
  .trim()
  .max(DEPENDENCY_CHARS_MAX)
  .regex(DEPENDENCY, 'must be a package with versions, like "requests>=2.31,<3"; no URLs, paths or options');

/** At most 50, each once. */
export const secretNames = z.array(secretName).max(NAMES_MAX).transform(dedupeNames);
export const dependencyNames = z.array(dependencyName).max(NAMES_MAX).transform(dedupeNames);

/** Applies the rules of `dependencyNames` to one package. */
export const parseDependency = (text: string): { name: string } | { problem: string } => {
  const parsed = dependencyName.safeParse(text);
  return parsed.success ? { name: parsed.data } : { problem: parsed.error.issues[0]?.message ?? 'is not a package' };
};

export const listDistinctDependencies = (names: string[]): string[] | { problem: string } => {
  const kept = dedupeNames(names);
  return kept.length > NAMES_MAX ? { problem: `lists ${kept.length} packages, ${NAMES_MAX} are possible` } : kept;
};

function dedupeNames(names: string[]): string[] {
  return [...new Set(names)];
}
