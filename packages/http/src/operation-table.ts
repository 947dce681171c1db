/** Finds the operation of a request by its method and path alone. */
import type { Operation } from './openapi-document';

export interface Found {
  operation: Operation;
  /** Decoded once; null if decoding failed. */
  params: Record<string, string> | null;
}

export type OperationTable = ReturnType<typeof operationTable>;

/** Node of a tree of path segments. Fixed text wins over a pattern, a pattern over a parameter. */
interface Step {
  fixed: Map<string, Step>;
  patterns: { text: string; matches: RegExp; next: Step }[];
  parameter?: Step;
  /** For a parameter that takes the rest of the path. */
  rest?: Step;
  operations: Map<string, Operation>;
}

/** Routes like Express: ignores the case of fixed text and one trailing slash. */
export function operationTable(operations: Operation[]) {
  const root = newStep();
  const names = new Map(operations.map((one) => [one, parameterNames(one.path)]));
  for (const operation of operations) stepOf(root, operation).operations.set(operation.method.toUpperCase(), operation);
  return {
    /** Returns undefined if no operation has this path; its methods if this one is not among them. */
    find(method: string, path: string): Found | { allowed: string[] } | undefined {
      const parts = path.slice(1).split('/');
      const walked = walk(root, parts, 0, []);
      if (!walked) return undefined;
      const { operations } = walked.step;
      // Node omits the body of a response to HEAD.
      const operation = operations.get(method) ?? (method === 'HEAD' ? operations.get('GET') : undefined);
      if (!operation) return { allowed: methodsOf(operations) };
      return { operation, params: decoded(names.get(operation) as string[], walked.values) };
    },
  };
}

const methodsOf = (operations: Map<string, Operation>): string[] =>
  [...operations.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));

const newStep = (): Step => ({ fixed: new Map(), patterns: [], operations: new Map() });

const parameterNames = (path: string): string[] => [...path.matchAll(/:(\w+)/g)].map(([, name]) => name as string);

function stepOf(root: Step, { path, takesRestOfPath }: Operation): Step {
  const parts = path.slice(1).split('/');
  let step = root;
  for (const [index, part] of parts.entries()) {
    if (part === '') continue;
    if (takesRestOfPath && index === parts.length - 1) step = step.rest ??= newStep();
    else if (!part.includes(':')) step = getOrAdd(step.fixed, part.toLowerCase());
    else if (/^:\w+$/.test(part)) step = step.parameter ??= newStep();
    else step = ofPattern(step, part);
  }
  return step;
}

function getOrAdd(steps: Map<string, Step>, name: string): Step {
  const known = steps.get(name);
  if (known) return known;
  const made = newStep();
  steps.set(name, made);
  return made;
}

/** Returns the node for a parameter with fixed text around it, such as `:slug.md`. */
function ofPattern(step: Step, part: string): Step {
  const text = part.replace(/:\w+/g, ':');
  const known = step.patterns.find((one) => one.text === text);
  if (known) return known.next;
  const fixed = text.split(':').map((one) => one.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  // Linear: a parameter or two beside fixed text of ours, in a path that Node bounds.
  const made = { text, matches: new RegExp(`^${fixed.join('(.+)')}$`, 'i'), next: newStep() };
  step.patterns.push(made);
  return made.next;
}

interface Walked {
  step: Step;
  /** Values of the path's parameters, not decoded. */
  values: string[];
}

function walk(step: Step, parts: string[], index: number, values: string[]): Walked | undefined {
  const part = parts[index];
  const isEnd = part === undefined || (part === '' && index === parts.length - 1);
  if (isEnd) return step.operations.size ? { step, values } : undefined;
  if (part !== '') {
    const fixed = step.fixed.get(part.toLowerCase());
    const found =
      (fixed && walk(fixed, parts, index + 1, values)) ??
      walkPatterns(step, parts, index, values) ??
      (step.parameter && walk(step.parameter, parts, index + 1, [...values, part]));
    if (found) return found;
  }
  return step.rest && { step: step.rest, values: [...values, parts.slice(index).join('/')] };
}

function walkPatterns(step: Step, parts: string[], index: number, values: string[]): Walked | undefined {
  for (const { matches, next } of step.patterns) {
    const [, ...found] = matches.exec(parts[index] as string) ?? [];
    const walked = found.length ? walk(next, parts, index + 1, [...values, ...found]) : undefined;
    if (walked) return walked;
  }
  return undefined;
}

function decoded(names: string[], values: string[]): Record<string, string> | null {
  const params: Record<string, string> = {};
  try {
    for (const [index, name] of names.entries()) params[name] = decodeURIComponent(values[index] as string);
  } catch {
    return null;
  }
  return params;
}
