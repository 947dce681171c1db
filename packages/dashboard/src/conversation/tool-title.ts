const TOOL_TITLES: Record<string, string> = {
  python: 'Python program',
  http: 'HTTP request',
  ask_person: 'Question for a person',
  read_file: 'Read file',
};

const SKILL_TITLES: Record<string, string> = {
  use_skill: 'Use skill',
  read_skill_file: 'Read file from skill',
};

/** Separates a connection from its tool, or `run` from a worker, in names for models. */
const SEPARATOR = '__';
const RUN_PREFIX = `run${SEPARATOR}`;

/**
 * Formats `linear__create_issue` as `linear: create issue`.
 * @param callArguments of which a skill's name is shown
 */
export function formatToolTitle(name: string, callArguments?: unknown): string {
  const skill = name in SKILL_TITLES ? findSkillName(callArguments) : null;
  if (skill !== null) return `${SKILL_TITLES[name]} ${skill}`;
  if (name.startsWith(RUN_PREFIX)) return `Run ${name.slice(RUN_PREFIX.length)}`;
  const at = name.indexOf(SEPARATOR);
  const replaceUnderscores = (text: string) => text.replaceAll('_', ' ');
  if (at > 0) return `${name.slice(0, at)}: ${replaceUnderscores(name.slice(at + SEPARATOR.length))}`;
  return TOOL_TITLES[name] ?? (replaceUnderscores(name) || 'Tool');
}

/** As the platform allows them; a model may have written anything. */
const SKILL_NAME_PATTERN = /^[a-z0-9-]{1,64}$/;

function findSkillName(callArguments: unknown): string | null {
  const name =
    typeof callArguments === 'object' && callArguments !== null && 'name' in callArguments ? callArguments.name : null;
  return typeof name === 'string' && SKILL_NAME_PATTERN.test(name) ? name : null;
}
