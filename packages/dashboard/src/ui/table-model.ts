import {
  createSortedRowModel,
  rowSelectionFeature,
  rowSortingFeature,
  tableFeatures,
  useTable,
} from '@tanstack/react-table';
import { type ReactNode, useMemo } from 'react';

export interface Column<Row extends object> {
  /** Heading; the table names columns by it, also in `sort`. */
  head: string;
  cell: (row: Row) => ReactNode;
  /** The value to sort by: numbers by size, text by the user's locale. Rows without one come last. */
  sortBy?: (row: Row) => string | number | null | undefined;
  /** Aligned to the end, with tabular digits. */
  isNumber?: boolean;
  /** Buttons: aligned to the end, under a heading for screen readers only. */
  isActions?: boolean;
  /** A table narrower than this leaves the column out. */
  hidesBelow?: 'narrow' | 'wide';
  /** Repeats the heading above the cell where rows are stacked. */
  isLabelled?: boolean;
  className?: string | undefined;
}

/** Builds the column of a row's buttons. */
export const buildActionsColumn = <Row extends object>(cell: Column<Row>['cell']): Column<Row> => ({
  head: 'Actions',
  isActions: true,
  cell,
});

export interface Sort {
  head: string;
  descending: boolean;
}

export interface TableModelOptions<Row extends object> {
  columns: Column<Row>[];
  /** Sorted again only if it is another array. */
  rows: readonly Row[];
  getKey: (row: Row) => string | number;
  /** Further rows can be loaded, so that these cannot be sorted. */
  isPartial?: boolean | undefined;
  /** The order of a page that keeps it in its URL; the table keeps its own otherwise. */
  sort?: Sort | undefined;
  /** @param sort undefined: the order of `rows` */
  onSort?: ((sort: Sort | undefined) => void) | undefined;
  canSelect?: ((row: Row) => boolean) | undefined;
}

const features = tableFeatures({ rowSelectionFeature, rowSortingFeature, sortedRowModel: createSortedRowModel() });
const collator = new Intl.Collator(undefined, { numeric: true });

const compareValues = (a: unknown, b: unknown): number =>
  typeof a === 'number' && typeof b === 'number' ? a - b : collator.compare(String(a), String(b));

/** Sorts and selects the rows of a table. Rows that are equal in the sorted column keep their order. */
export function useTableModel<Row extends object>(options: TableModelOptions<Row>) {
  const { columns, rows, getKey, isPartial, sort, onSort, canSelect } = options;
  const sorting = sort && [{ id: sort.head, desc: sort.descending }];
  return useTable<typeof features, Row>({
    features,
    data: rows,
    getRowId: (row) => String(getKey(row)),
    columns: useMemo(
      () =>
        columns.map(({ head, sortBy }) => ({
          id: head,
          accessorFn: (row: Row) => sortBy?.(row) ?? undefined,
          enableSorting: sortBy !== undefined && !isPartial,
          sortUndefined: 'last',
          sortFn: (a, b, id) => compareValues(a.getValue(id), b.getValue(id)),
        })),
      [columns, isPartial],
    ),
    sortDescFirst: false,
    enableMultiSort: false,
    enableRowSelection: ({ original }) => canSelect?.(original) ?? false,
    ...(sorting && {
      state: { sorting },
      onSortingChange: (update) => {
        const [next] = typeof update === 'function' ? update(sorting) : update;
        onSort?.(next && { head: next.id, descending: next.desc });
      },
    }),
  });
}
