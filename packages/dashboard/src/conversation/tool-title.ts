const OWN: Record<string, string> = {
  python: 'Python program',
  http: 'HTTP request',
  ask_person: 'Question to a person',
  read_file: 'Read a file',
};

const OF_SKILLS: Record<string, string> = {
  use_skill: 'Use the skill',
  read_skill_file: 'Read a file of the skill',
};

/** Separates a connection from its tool, or `run` from a worker, in names for models. */
const BETWEEN = '__';
const RUNS = `run${BETWEEN}`;

/**
 * Formats `linear__create_issue` as `linear: create issue`.
 * @param callArguments of which a skill's name is shown
 */
export function toolTitle(name: string, given?: unknown): string {
  const skill = name in OF_SKILLS ? nameOfSkill(given) : null;
  if (skill !== null) return `${OF_SKILLS[name]} ${skill}`;
  if (name.startsWith(RUNS)) return `Run ${name.slice(RUNS.length)}`;
  const at = name.indexOf(BETWEEN);
  const words = (text: string) => text.replaceAll('_', ' ');
  if (at > 0) return `${name.slice(0, at)}: ${words(name.slice(at + BETWEEN.length))}`;
  return OWN[name] ?? (words(name) || 'Tool');
}

/** As the platform allows them; a model may have written anything. */
const SKILL = /^[a-z0-9-]{1,64}$/;

function nameOfSkill(given: unknown): string | null {
  const name = typeof given === 'object' && given !== null && 'name' in given ? given.name : null;
  return typeof name === 'string' && SKILL.test(name) ? name : null;
}
