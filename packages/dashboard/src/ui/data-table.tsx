import { Button, Checkbox, Text } from '@mantine/core';
import { Fragment, type ReactNode, useState } from 'react';
import styles from './data-table.module.css';
import { formatNumber } from './format';
import { DownIcon, RightIcon } from './icons';
import { SearchField } from './search-field';
import { type Column, type TableModelOptions, useTableModel } from './table-model';

interface Search<Row extends object> {
  label: string;
  placeholder: string;
  /** The text in which the search looks. */
  getText: (row: Row) => string;
  /** Shown if no row matches. */
  none: string;
}

interface Selection<Row extends object> {
  canSelect: (row: Row) => boolean;
  /** Names the row for screen readers. */
  getLabel: (row: Row) => string;
  /** Toolbar above the table; it is rendered also while no row is selected. */
  actions: (rows: Row[], clear: () => void) => ReactNode;
}

interface Expansion<Row extends object> {
  /** Content below a row; null: there is none. */
  render: (row: Row) => ReactNode;
  /** Names the row for screen readers. */
  getLabel: (row: Row) => string;
  isOpenByDefault: (row: Row) => boolean;
}

export interface DataTableProps<Row extends object> extends Omit<TableModelOptions<Row>, 'canSelect'> {
  /** Names the table, or the region in which a table that is too wide scrolls. */
  label?: string;
  /** The table is the page, not a part of a panel. */
  isCard?: boolean;
  /** Stacks the cells of each row in a narrow window, where the table would scroll otherwise. */
  stacks?: boolean;
  className?: string | undefined;
  /** Adds a search field to a table with many rows. */
  search?: Search<Row>;
  selection?: Selection<Row> | undefined;
  /** Adds a button to each row that shows its details. */
  expansion?: Expansion<Row>;
  /** Rows shown at first and added by each press of a button; all if absent. */
  pageSize?: number;
}

/** The search is hidden below this number of rows. */
const SEARCH_MIN_ROWS = 8;

/** Renders a table with a row for each item, the name first. A click on a heading sorts up, down, then not at all. */
export function DataTable<Row extends object>(props: DataTableProps<Row>) {
  const {
    label,
    columns,
    rows,
    getKey,
    isCard,
    stacks,
    className,
    isPartial,
    sort,
    onSort,
    search,
    selection,
    expansion,
    pageSize,
  } = props;
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [searchText, setSearchText] = useState('');
  const query = searchText.trim().toLowerCase();
  const matches = search && query ? rows.filter((row) => search.getText(row).toLowerCase().includes(query)) : rows;
  const [rowsMax, setRowsMax] = useState(pageSize ?? Number.POSITIVE_INFINITY);
  const canSelect = selection?.canSelect;
  const table = useTableModel({ columns, rows: matches, getKey, isPartial, sort, onSort, canSelect });
  const shownRows = table.getRowModel().rows.slice(0, rowsMax);
  const selectableRows = shownRows.filter((row) => row.getCanSelect());
  const hasSelection = selectableRows.length > 0;
  const content = (
    <table
      className={`${styles.table} ${stacks ? styles.stacks : ''} ${className ?? ''}`}
      aria-label={stacks ? label : undefined}
    >
      <thead>
        <tr>
          {hasSelection && (
            <th scope="col" className={styles.check}>
              <SelectAll rows={selectableRows} />
            </th>
          )}
          {columns.map((column) => (
            <ColumnHeading key={column.head} column={column} sorting={table.getColumn(column.head)} />
          ))}
          {expansion && (
            <th scope="col">
              <span className="visually-hidden">Details</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {shownRows.map((row) => {
          const detail = expansion?.render(row.original);
          const isOpen = toggled.get(row.id) ?? expansion?.isOpenByDefault(row.original) ?? false;
          return (
            <Fragment key={row.id}>
              <tr data-selected={row.getIsSelected() || undefined}>
                {hasSelection && (
                  <td className={styles.check}>
                    {row.getCanSelect() && (
                      <Checkbox
                        aria-label={`Select ${selection?.getLabel(row.original)}`}
                        checked={row.getIsSelected()}
                        onChange={row.getToggleSelectedHandler()}
                      />
                    )}
                  </td>
                )}
                {columns.map((column, index) => (
                  <td
                    key={column.head}
                    className={getClassName(column, index === 0)}
                    data-label={column.isLabelled ? column.head : undefined}
                  >
                    {column.isActions ? (
                      <div className={styles.buttons}>{column.cell(row.original)}</div>
                    ) : (
                      column.cell(row.original)
                    )}
                  </td>
                ))}
                {expansion && (
                  <td className={styles.more}>
                    {detail && (
                      <button
                        type="button"
                        className="icon-button"
                        aria-expanded={isOpen}
                        aria-label={`Details for ${expansion.getLabel(row.original)}`}
                        onClick={() => setToggled(new Map(toggled).set(row.id, !isOpen))}
                      >
                        {isOpen ? <DownIcon /> : <RightIcon />}
                      </button>
                    )}
                  </td>
                )}
              </tr>
              {detail && isOpen && (
                <tr className={styles.detail}>
                  <td colSpan={columns.length + (hasSelection ? 2 : 1)}>{detail}</td>
                </tr>
              )}
            </Fragment>
          );
        })}
      </tbody>
    </table>
  );
  const frame = `${styles.frame} ${isCard ? `${styles.card} surface` : ''}`;
  return (
    <>
      {search && rows.length >= SEARCH_MIN_ROWS && (
        <SearchField
          maw="24rem"
          mb="md"
          label={search.label}
          placeholder={search.placeholder}
          value={searchText}
          onChange={setSearchText}
        />
      )}
      {selection?.actions(
        table.getSelectedRowModel().rows.map(({ original }) => original),
        () => table.resetRowSelection(true),
      )}
      {search && matches.length === 0 ? (
        <Text c="dimmed" role="status">
          {search.none}
        </Text>
      ) : label === undefined || stacks ? (
        <div className={frame}>{content}</div>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
        <section className={`${frame} ${styles.scroll}`} tabIndex={0} aria-label={label}>
          {content}
        </section>
      )}
      {pageSize !== undefined && matches.length > rowsMax && (
        <Button variant="default" mt="md" onClick={() => setRowsMax(rowsMax + pageSize)}>
          Show {formatNumber(Math.min(pageSize, matches.length - rowsMax))} more of {formatNumber(matches.length)}
        </Button>
      )}
    </>
  );
}

function getClassName<Row extends object>(column: Column<Row>, isFirst = false): string | undefined {
  const { isNumber, hidesBelow, className } = column;
  const names = [isFirst && styles.first, isNumber && styles.number, hidesBelow && styles[hidesBelow], className];
  return names.filter(Boolean).join(' ') || undefined;
}

interface ColumnHeadingProps<Row extends object> {
  column: Column<Row>;
  sorting:
    | { getCanSort: () => boolean; getIsSorted: () => false | 'asc' | 'desc'; toggleSorting: () => void }
    | undefined;
}

function ColumnHeading<Row extends object>({ column, sorting }: ColumnHeadingProps<Row>) {
  const { head, isActions } = column;
  const order = sorting?.getIsSorted();
  const direction = order ? (order === 'asc' ? 'ascending' : 'descending') : undefined;
  return (
    <th scope="col" className={getClassName(column)} aria-sort={direction}>
      {sorting?.getCanSort() ? (
        <button
          type="button"
          className={styles.sort}
          data-direction={direction}
          onClick={() => sorting.toggleSorting()}
        >
          {head}
        </button>
      ) : (
        <span className={isActions ? 'visually-hidden' : undefined}>{head}</span>
      )}
    </th>
  );
}

interface SelectAllProps {
  rows: { getIsSelected: () => boolean; toggleSelected: (value: boolean) => void }[];
}

/** Selects the rows that are shown, and no others. */
function SelectAll({ rows }: SelectAllProps) {
  const selectedCount = rows.filter((row) => row.getIsSelected()).length;
  const isAll = selectedCount === rows.length;
  return (
    <Checkbox
      aria-label="Select all"
      checked={isAll}
      indeterminate={selectedCount > 0 && !isAll}
      onChange={() => {
        for (const row of rows) row.toggleSelected(!isAll);
      }}
    />
  );
}
