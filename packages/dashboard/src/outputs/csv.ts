import Papa from 'papaparse';
import { formatCell, type TableData } from './table-data';

/**
 * RFC 4180, with any line end, also several in one text; inside a cell each becomes a line feed. The first row is the
 * header.
 */
export function parseCsv(text: string): TableData {
  const lines = text.replace(/\r\n?/g, '\n').replace(/\n$/, '');
  const [columns = [], ...rows] = Papa.parse<string[]>(lines, { delimiter: ',', newline: '\n' }).data;
  return { columns, rows };
}

/** Text that a spreadsheet would take for a formula, also after spaces; a plain negative number is none. */
const FORMULA = /^(?!-\d+(\.\d+)?$)(\s*[=+\-@]|[\t\r])/;

/** Formats CSV; formulas are escaped with an apostrophe. */
export function toCsv({ columns, rows }: TableData): string {
  const data = rows.map((row) => row.map((value) => (typeof value === 'number' ? value : formatCell(value))));
  return `${Papa.unparse({ fields: columns, data }, { escapeFormulae: FORMULA })}\r\n`;
}

/** The mark at the front tells spreadsheets that this is UTF-8. */
export const buildCsvFile = (table: TableData): Blob =>
  new Blob(['\ufeff', toCsv(table)], { type: 'text/csv;charset=utf-8' });
