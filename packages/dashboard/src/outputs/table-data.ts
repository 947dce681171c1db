import { isJsonObject, type JsonObject } from '../ui/json';

export interface TableData {
  columns: string[];
  rows: unknown[][];
}

/**
 * Converts to a table an array of objects, of an array of rows whose first is the header, or of `{columns, rows}`;
 * null for anything else. A column that only some objects have is empty in the others.
 */
export function toTable(value: unknown): TableData | null {
  if (isJsonObject(value) && Array.isArray(value.columns) && Array.isArray(value.rows)) {
    const columns = value.columns.map(String);
    const inner = toTable([columns, ...value.rows]);
    return inner ?? (value.rows.every(isJsonObject) ? buildTable(value.rows, columns) : null);
  }
  if (!Array.isArray(value)) return null;
  if (value.length === 0) return { columns: [], rows: [] };
  if (value.every(isJsonObject)) return buildTable(value, [...new Set(value.flatMap(Object.keys))]);
  if (value.every(Array.isArray)) {
    const [header, ...rows] = value as unknown[][];
    return { columns: (header ?? []).map(String), rows };
  }
  return null;
}

const buildTable = (objects: JsonObject[], columns: string[]): TableData => ({
  columns,
  rows: objects.map((object) => columns.map((column) => (Object.hasOwn(object, column) ? object[column] : null))),
});

export function formatCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Compares numbers by size and before text, text by the browser's locale; empty cells last. */
export function compareCells(a: unknown, b: unknown): number {
  const [emptyA, emptyB] = [formatCell(a) === '', formatCell(b) === ''];
  if (emptyA || emptyB) return Number(emptyA) - Number(emptyB);
  const [numberA, numberB] = [toNumber(a), toNumber(b)];
  if (numberA !== null && numberB !== null) return numberA - numberB;
  if (numberA !== null || numberB !== null) return numberA !== null ? -1 : 1;
  return formatCell(a).localeCompare(formatCell(b), undefined, { numeric: true });
}

function toNumber(value: unknown): number | null {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value.trim() === '') return null;
  const number = Number(value);
  return Number.isNaN(number) ? null : number;
}

/** Whether a column is read as numbers: aligned to the right. */
export const isNumeric = (rows: unknown[][], column: number): boolean =>
  rows.length > 0 && rows.every((row) => formatCell(row[column]) === '' || toNumber(row[column]) !== null);
