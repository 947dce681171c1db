const OWN: Record<string, string> = {
  python: 'Python program',
  http: 'HTTP request',
  ask_person: 'Question to a person',
  read_file: 'Read a file',
};

/** Between a connection and its tool, or before a worker, as models are told of them. */
const BETWEEN = '__';
const RUNS = `run${BETWEEN}`;

/** `linear__create_issue` as `linear: create issue`. */
export function toolTitle(name: string): string {
  if (name.startsWith(RUNS)) return `Run ${name.slice(RUNS.length)}`;
  const at = name.indexOf(BETWEEN);
  const words = (text: string) => text.replaceAll('_', ' ');
  if (at > 0) return `${name.slice(0, at)}: ${words(name.slice(at + BETWEEN.length))}`;
  return OWN[name] ?? (words(name) || 'Tool');
}
