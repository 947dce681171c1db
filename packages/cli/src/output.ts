/** Data goes to stdout, progress and problems to stderr. */
import { usageError } from './errors';
import { bold, dim, joinLines, Text, text, toSingleLine, yellow } from './text';

export interface OutputOptions {
  json?: boolean;
  /** Paths such as `id,triggers.type`. */
  fields?: string;
}

export type Output = ReturnType<typeof createOutput>;

export function createOutput({ json, fields }: OutputOptions) {
  const paths = fields === undefined ? null : parseFields(fields);
  const isJson = json === true || paths !== null;
  const isLive = !isJson && process.stderr.isTTY === true && process.env.TERM !== 'dumb';
  const select = (data: unknown) => (paths ? selectFields(data, paths) : data);
  const note = (message: Text) => void process.stderr.write(`${message}\n`);
  return {
    isJson,
    /** Prints data once: as JSON, or as `render` shows it. */
    print(data: unknown, render: () => Text): void {
      const problem = paths && describeUnknownFields(data, paths);
      if (problem) note(problem);
      writeLine(isJson ? JSON.stringify(select(data), null, 2) : render().value);
    },
    /** Prints one of a sequence: a line of JSON, or as `render` shows it. */
    printItem: (data: unknown, render: () => Text) => writeLine(isJson ? JSON.stringify(select(data)) : render().value),
    /** Progress, for people. */
    note,
    /** Progress in one line, which the next one replaces; a line of its own without a terminal, and nothing with JSON. */
    showStep(message: Text) {
      if (!isJson) process.stderr.write(isLive ? `${CLEAR_LINE}${message}` : `${message}\n`);
    },
    /** Progress within a step: in the same line, on a terminal only. */
    showDetail(message: Text) {
      if (isLive) process.stderr.write(`${CLEAR_LINE}${message}`);
    },
    clearStep() {
      if (isLive) process.stderr.write(CLEAR_LINE);
    },
  };
}

const CLEAR_LINE = '\r\u001b[2K';

function writeLine(line: string): void {
  if (line) process.stdout.write(`${line}\n`);
}

function parseFields(fields: string): string[][] {
  const paths = fields.split(',').map((one) => one.trim().split('.'));
  if (paths.some((parts) => parts.some((part) => !part))) {
    throw usageError(`--fields ${fields}: expected comma-separated names, such as id,status`);
  }
  return paths;
}

/** A misspelt name would only show as null. @returns null where each name is that of a field */
function describeUnknownFields(data: unknown, paths: string[][]): Text | null {
  const items = (Array.isArray(data) ? data : [data]).filter((item) => typeof item === 'object' && item !== null);
  const names = new Set(items.flatMap((item) => Object.keys(item)));
  const unknown = new Set(paths.flatMap(([name]) => (name === undefined || names.has(name) ? [] : [name])));
  if (names.size === 0 || unknown.size === 0) return null;
  return joinLines([
    yellow(`--fields: no field is named ${[...unknown].join(', ')}`),
    dim(`The fields are ${[...names].join(', ')}`),
  ]);
}

/** The named fields of an object, or of each object of a list; what is not there is null. */
export function selectFields(data: unknown, paths: string[][]): unknown {
  if (Array.isArray(data)) return data.map((item) => selectFields(item, paths));
  return Object.fromEntries(paths.map((parts) => [parts.join('.'), selectField(data, parts)]));
}

function selectField(data: unknown, [name, ...rest]: string[]): unknown {
  if (name === undefined) return data ?? null;
  if (Array.isArray(data)) return data.map((item) => selectField(item, [name, ...rest]));
  if (typeof data !== 'object' || data === null || !Object.hasOwn(data, name)) return null;
  return selectField((data as Record<string, unknown>)[name], rest);
}

export type Cell = Text | string | number | null | undefined;

/** A size to two digits, such as `1.2 MB`. */
export function formatBytes(bytes: number): string {
  const [unit, size] = bytes < 1_000_000 ? ['KB', 1_000] : ['MB', 1_000_000];
  const count = bytes / Number(size);
  return `${count < 10 ? count.toFixed(1) : Math.round(count)} ${unit}`;
}

/** Columns of equal width, the last one as wide as it is. */
export function formatTable(headers: string[], rows: Cell[][]): Text {
  const cells = rows.map((row) => row.map(toSingleLine));
  const widths = headers.map((header, column) =>
    Math.max(header.length, ...cells.map((row) => visibleWidth(row[column] ?? toSingleLine('')))),
  );
  const formatRow = (row: Text[]) =>
    row
      .map((cell, column) =>
        column === row.length - 1 ? cell.value : cell.value + ' '.repeat((widths[column] ?? 0) - visibleWidth(cell)),
      )
      .join('  ')
      .trimEnd();
  const head = headers.map((header) => dim(header.toUpperCase()));
  return new Text([head, ...cells].map(formatRow).join('\n'));
}

/** Prints items as JSON, or as a table with a row for each. */
export const printTable = <Item>(
  output: Output,
  items: Item[],
  headers: string[],
  toRow: (item: Item) => Cell[],
): void => output.print(items, () => formatTable(headers, items.map(toRow)));

/** Names and values, one in a line. */
export function formatDetails(pairs: [string, Cell][]): Text {
  const presentPairs = pairs.filter(([, value]) => value !== null && value !== undefined && value !== '');
  const width = Math.max(...presentPairs.map(([name]) => name.length));
  return joinLines(presentPairs.map(([name, value]) => text`${bold(name.padEnd(width))}  ${toSingleLine(value)}`));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: our own styles, which take no place
const STYLES = /\u001b\[\d+m/g;
const visibleWidth = ({ value }: Text): number => [...value.replace(STYLES, '')].length;
