import { cellText, type TableData } from './table-data';

/** RFC 4180, with any line end; the first row is the header. */
export function parseCsv(text: string): TableData {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (quoted) {
      if (char !== '"') cell += char;
      else if (text[i + 1] === '"') cell += text[++i];
      else quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === ',') {
      row.push(cell);
      cell = '';
    } else if (char === '\n' || char === '\r') {
      if (char === '\r' && text[i + 1] === '\n') i++;
      rows.push([...row, cell]);
      row = [];
      cell = '';
    } else cell += char;
  }
  if (cell || row.length) rows.push([...row, cell]);
  const [columns = [], ...body] = rows;
  return { columns, rows: body };
}

/**
 * A cell that a spreadsheet would take for a formula gets an apostrophe in front, also after spaces; a plain negative
 * number does not.
 */
function toCell(value: unknown): string {
  let text = cellText(value);
  if (typeof value !== 'number' && /^\s*[=+\-@]|^[\t\r]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const toCsv = ({ columns, rows }: TableData): string =>
  [columns, ...rows].map((row) => `${row.map(toCell).join(',')}\r\n`).join('');

/** The mark at the front tells spreadsheets that this is UTF-8. */
export const csvFile = (table: TableData): Blob =>
  new Blob(['\ufeff', toCsv(table)], { type: 'text/csv;charset=utf-8' });
