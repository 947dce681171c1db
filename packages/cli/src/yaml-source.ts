/** YAML files whose problems are shown with file, line and column. */
import { CommandError, EXIT } from './errors';

export type YamlSource = Awaited<ReturnType<typeof readYaml>>;

/** @throws CommandError with the line and the column */
export async function readYaml(name: string, content: string) {
  const { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } = await import('yaml');
  const lineCounter = new LineCounter();
  // JSON is YAML, too.
  const document = parseDocument(content, { lineCounter });
  const [problem] = document.errors;
  if (problem) {
    const [{ line, col } = { line: 1, col: 1 }] = problem.linePos ?? [];
    const message = problem.message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '');
    throw new CommandError(`${name}:${line}:${col}: ${message}`, EXIT.failed);
  }
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 20 });
  } catch (error) {
    throw new CommandError(`${name}: ${(error as Error).message}`, EXIT.failed);
  }

  /** The key of a map shows better where a value is wrong than the value, which may begin on a later line. */
  function findOffset(path: string[]): number {
    let node: unknown = document.contents;
    let offset = 0;
    for (const key of path) {
      const pair = isMap(node) ? node.items.find((item) => isScalar(item.key) && String(item.key.value) === key) : null;
      const next: unknown = pair ? pair.value : isSeq(node) ? node.items[Number(key)] : undefined;
      const located = pair ? pair.key : next;
      if (!isNode(located) || !located.range) break;
      offset = located.range[0];
      node = next;
    }
    return offset;
  }

  return {
    value,
    /** @returns `alerts.yaml:3:5` of the value at a path, or of the nearest one above it */
    locate(path: string[]): string {
      const { line, col } = lineCounter.linePos(findOffset(path));
      return `${name}:${Math.max(line, 1)}:${Math.max(col, 1)}`;
    },
  };
}

/** Builds an error with its position in the file. */
export const locatedError = (source: Pick<YamlSource, 'locate'>, keyPath: string[], message: string) =>
  new CommandError(`${source.locate(keyPath)}: ${message}`, EXIT.failed);

/**
 * @param at a value of the source, and its place; absent: all of it.
 * @throws CommandError where it is no map of fields
 */
export function requireMap(
  source: YamlSource,
  example: string,
  at: { place: string[]; value: unknown } = { place: [], value: source.value },
): Record<string, unknown> {
  const { place, value } = at;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw locatedError(source, place, example);
}
