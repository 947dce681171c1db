import type { CSSProperties, ReactNode } from 'react';
import styles from './row-list.module.css';

interface RowListProps {
  label?: string;
  /** CSS widths of the columns. On a phone the cells are stacked. */
  columns: string;
  /** The list is the page, not a part of a panel. */
  isCard?: boolean;
  /** An `li` for each row with a cell for each column, the buttons last. */
  children: ReactNode;
}

/** Lists rows with aligned cells. */
export function RowList({ label, columns, isCard = false, children }: RowListProps) {
  return (
    <ul
      className={`${styles.list} ${isCard ? 'surface' : ''}`}
      aria-label={label}
      data-card={isCard || undefined}
      style={{ '--columns': columns } as CSSProperties}
    >
      {children}
    </ul>
  );
}

/** Shows a text below all cells of a row. */
export function RowNote({ children }: { children: ReactNode }) {
  return <p className={styles.note}>{children}</p>;
}
