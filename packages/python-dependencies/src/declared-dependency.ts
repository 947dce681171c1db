/** PEP 508 without URLs, markers and options: a name, extras, versions. */
const DEPENDENCY =
  /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?(?:\[[A-Za-z0-9._,\s-]+\])?\s*(?:(?:===|==|~=|!=|<=|>=|<|>)\s*[A-Za-z0-9.*+!_-]+(?:\s*,\s*(?:===|==|~=|!=|<=|>=|<|>)\s*[A-Za-z0-9.*+!_-]+)*)?$/;
const CHARS_MAX = 200;

export const DEPENDENCIES_MAX = 50;

export type DeclaredDependency = { name: string } | { problem: string };

/** Parses one package as it is declared, with extras and versions. */
export function parseDependency(text: string): DeclaredDependency {
  const name = text.trim();
  if (name.length > CHARS_MAX) return { problem: `must have at most ${CHARS_MAX} characters` };
  if (DEPENDENCY.test(name)) return { name };
  return { problem: 'must be a package name with versions, such as "requests>=2.31,<3", not a URL, path or option' };
}
