/** Parses dependencies as users write them. */

export class DependencyError extends Error {}

const VERSION = /(===|==|~=|!=|<=|>=|<|>)\s*[A-Za-z0-9.*+!_-]+/;
const REQUIREMENT = new RegExp(
  `^[A-Za-z0-9]+(?:[._-]+[A-Za-z0-9]+)*\\s*(?:\\[[A-Za-z0-9._, -]*\\]\\s*)?(?:${VERSION.source}\\s*(?:,\\s*${VERSION.source}\\s*)*)?(?:;[\\w\\s.<>=!"'()]+)?$`,
);

/** Parses a name with versions (PEP 508); rejects whatever pip would read as an option, an address or a path. */
export function parseRequirement(text: string): string {
  const trimmed = text.trim();
  if (trimmed.length > 300 || !REQUIREMENT.test(trimmed)) {
    throw new DependencyError(
      `${JSON.stringify(text.slice(0, 100))} is not a valid dependency: use a package name, optionally with a version range, such as "requests>=2.31,<3".`,
    );
  }
  return trimmed.replace(/\s+/g, ' ');
}
