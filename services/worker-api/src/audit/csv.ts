/** Formats CSV (RFC 4180) that is safe to open in a spreadsheet. */

/** Matches text that a spreadsheet takes for a formula, also after blanks. */
const FORMULA_PATTERN = /^[\s\0]*[=+\-@|%]|^[\t\r\n]/;

export const formatCsvLine = (cells: (string | null)[]): string => `${cells.map(formatCsvCell).join(',')}\r\n`;

function formatCsvCell(text: string | null): string {
  if (text === null) return '';
  const safe = FORMULA_PATTERN.test(text) ? `'${text}` : text;
  return /[",\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
