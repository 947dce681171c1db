import type { ReactNode } from 'react';
import styles from './data-table.module.css';

export interface Column<Row> {
  head: string;
  cell: (row: Row) => ReactNode;
  /** Aligned to the end, with tabular digits. */
  isNumber?: boolean;
  className?: string;
}

interface DataTableProps<Row> {
  /** Names the region in which a table that is too wide scrolls; without it, the table never is. */
  label?: string;
  columns: Column<Row>[];
  rows: readonly Row[];
  getKey: (row: Row) => string | number;
  /** The table is the page, not a part of a panel. */
  isCard?: boolean;
  className?: string;
}

/** Renders a table with a row for each item, the name first. */
export function DataTable<Row>({ label, columns, rows, getKey, isCard = false, className }: DataTableProps<Row>) {
  const getClassName = ({ isNumber, className: own }: Column<Row>) =>
    [isNumber && styles.number, own].filter(Boolean).join(' ') || undefined;
  const table = (
    <table className={`${styles.table} ${className ?? ''}`}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.head} scope="col" className={getClassName(column)}>
              {column.head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={getKey(row)}>
            {columns.map((column) => (
              <td key={column.head} className={getClassName(column)}>
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
  if (label === undefined) return table;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section className={`${styles.scroll} ${isCard ? `${styles.card} surface` : ''}`} tabIndex={0} aria-label={label}>
      {table}
    </section>
  );
}
