import type { ReactNode } from 'react';
import { DataTable } from '../ui/data-table';
import type { Column } from '../ui/table-model';
import { isNotable, type Verdict, VerdictBadge } from './verdict-badge';

interface ResultsTableProps<Row extends object> {
  label: string;
  isCard?: boolean;
  rows: readonly Row[];
  getKey: (row: Row) => string;
  /** The case, in the first column. */
  name: { head: string; cell: (row: Row) => ReactNode; getText: (row: Row) => string };
  verdict: { head: string; get: (row: Row) => Verdict };
  /** Follow the verdict. */
  columns: Column<Row>[];
  /** Content below a row; null: there is none. */
  renderDetail: (row: Row) => ReactNode;
  /** Expands rows beside those that need a review. */
  isRequested?: (row: Row) => boolean;
}

/** Shows a rehearsal in each row: its case, its verdict, and details on demand. */
export function ResultsTable<Row extends object>(props: ResultsTableProps<Row>) {
  const { label, isCard = false, rows, getKey, name, verdict, columns, renderDetail, isRequested } = props;
  return (
    <DataTable
      label={label}
      isCard={isCard}
      stacks
      rows={rows}
      getKey={getKey}
      columns={[
        { head: name.head, cell: name.cell },
        { head: verdict.head, cell: (row) => <VerdictBadge verdict={verdict.get(row)} /> },
        ...columns,
      ]}
      expansion={{
        render: renderDetail,
        getLabel: name.getText,
        isOpenByDefault: (row) => isNotable(verdict.get(row)) || isRequested?.(row) === true,
      }}
    />
  );
}
