/** Finds the operation of a request by its method and path alone. */
import type { Operation } from './openapi-document';

export interface OperationMatch {
  operation: Operation;
  /** Decoded once; null if decoding failed. */
  params: Record<string, string> | null;
}

export type OperationTable = ReturnType<typeof createOperationTable>;

/** Node of a tree of path segments. Fixed text wins over a pattern, a pattern over a parameter. */
interface RouteNode {
  fixed: Map<string, RouteNode>;
  patterns: { text: string; matches: RegExp; next: RouteNode }[];
  parameter?: RouteNode;
  /** For a parameter that takes the rest of the path. */
  rest?: RouteNode;
  operations: Map<string, Operation>;
}

/** Routes like Express: ignores the case of fixed text and one trailing slash. */
export function createOperationTable(operations: Operation[]) {
  const root = createNode();
  const names = new Map(operations.map((one) => [one, parseParameterNames(one.path)]));
  for (const operation of operations)
    addRoute(root, operation).operations.set(operation.method.toUpperCase(), operation);
  return {
    /** Returns undefined if no operation has this path; its methods if this one is not among them. */
    find(method: string, path: string): OperationMatch | { allowed: string[] } | undefined {
      const parts = path.slice(1).split('/');
      const match = matchRoute(root, parts, 0, []);
      if (!match) return undefined;
      const { operations } = match.step;
      // Node omits the body of a response to HEAD.
      const operation = operations.get(method) ?? (method === 'HEAD' ? operations.get('GET') : undefined);
      if (!operation) return { allowed: listMethods(operations) };
      return { operation, params: decodeParams(names.get(operation) as string[], match.values) };
    },
  };
}

const listMethods = (operations: Map<string, Operation>): string[] =>
  [...operations.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));

const createNode = (): RouteNode => ({ fixed: new Map(), patterns: [], operations: new Map() });

const parseParameterNames = (path: string): string[] => [...path.matchAll(/:(\w+)/g)].map(([, name]) => name as string);

function addRoute(root: RouteNode, { path, hasRestParameter: takesRestOfPath }: Operation): RouteNode {
  const parts = path.slice(1).split('/');
  let step = root;
  for (const [index, part] of parts.entries()) {
    if (part === '') continue;
    if (takesRestOfPath && index === parts.length - 1) step = step.rest ??= createNode();
    else if (!part.includes(':')) step = getOrAddNode(step.fixed, part.toLowerCase());
    else if (/^:\w+$/.test(part)) step = step.parameter ??= createNode();
    else step = getOrAddPattern(step, part);
  }
  return step;
}

function getOrAddNode(steps: Map<string, RouteNode>, name: string): RouteNode {
  const known = steps.get(name);
  if (known) return known;
  const created = createNode();
  steps.set(name, created);
  return created;
}

/** Returns the node for a parameter with fixed text around it, such as `:slug.md`. */
function getOrAddPattern(step: RouteNode, part: string): RouteNode {
  const text = part.replace(/:\w+/g, ':');
  const known = step.patterns.find((one) => one.text === text);
  if (known) return known.next;
  const fixed = text.split(':').map((one) => one.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  // Linear: a parameter or two beside fixed text of ours, in a path that Node bounds.
  const created = { text, matches: new RegExp(`^${fixed.join('(.+)')}$`, 'i'), next: createNode() };
  step.patterns.push(created);
  return created.next;
}

interface RouteMatch {
  step: RouteNode;
  /** Values of the path's parameters, not decoded. */
  values: string[];
}

function matchRoute(step: RouteNode, parts: string[], index: number, values: string[]): RouteMatch | undefined {
  const part = parts[index];
  const isEnd = part === undefined || (part === '' && index === parts.length - 1);
  if (isEnd) return step.operations.size ? { step, values } : undefined;
  if (part !== '') {
    const fixed = step.fixed.get(part.toLowerCase());
    const found =
      (fixed && matchRoute(fixed, parts, index + 1, values)) ??
      matchPatterns(step, parts, index, values) ??
      (step.parameter && matchRoute(step.parameter, parts, index + 1, [...values, part]));
    if (found) return found;
  }
  return step.rest && { step: step.rest, values: [...values, parts.slice(index).join('/')] };
}

function matchPatterns(step: RouteNode, parts: string[], index: number, values: string[]): RouteMatch | undefined {
  for (const { matches, next } of step.patterns) {
    const [, ...found] = matches.exec(parts[index] as string) ?? [];
    const match = found.length ? matchRoute(next, parts, index + 1, [...values, ...found]) : undefined;
    if (match) return match;
  }
  return undefined;
}

function decodeParams(names: string[], values: string[]): Record<string, string> | null {
  const params: Record<string, string> = {};
  try {
    for (const [index, name] of names.entries()) params[name] = decodeURIComponent(values[index] as string);
  } catch {
    return null;
  }
  return params;
}
