import { Box, Button, Group, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import { downloadFile } from '../ui/download-file';
import { DownloadIcon } from '../ui/icons';
import { buildCsvFile } from './csv';
import styles from './output-table.module.css';
import { compareCells, formatCell, isNumeric, type TableData } from './table-data';

interface Sort {
  column: number;
  descending: boolean;
}

const ROWS_SHOWN = 100;

export function OutputTable({ name, label, table }: { name: string; label: string; table: TableData }) {
  const [sort, setSort] = useState<Sort | null>(null);
  const [shown, setShown] = useState(ROWS_SHOWN);
  const rows = useMemo(() => sortRows(table.rows, sort), [table, sort]);
  const numeric = useMemo(() => table.columns.map((_, column) => isNumeric(table.rows, column)), [table]);
  if (rows.length === 0)
    return (
      <Text fz="xs" c="dimmed">
        No rows.
      </Text>
    );
  return (
    <Box bd="1px solid var(--line)" bdrs={6} style={{ overflow: 'hidden' }}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <section className={styles.scroll} aria-label={`${label}, table`} tabIndex={0}>
        <table className={styles.table}>
          <thead>
            <tr>
              {table.columns.map((column, index) => (
                <th
                  // biome-ignore lint/suspicious/noArrayIndexKey: columns have no identity but their place.
                  key={index}
                  scope="col"
                  data-numeric={numeric[index] || undefined}
                  aria-sort={sort?.column === index ? (sort.descending ? 'descending' : 'ascending') : undefined}
                >
                  <button type="button" className={styles.sort} onClick={() => setSort(toggleSort(sort, index))}>
                    {column || `Column ${index + 1}`}
                    <Text span c="dimmed" fw={400} aria-hidden="true">
                      {sort?.column === index ? (sort.descending ? '↓' : '↑') : '↕'}
                    </Text>
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, shown).map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their place.
              <tr key={index}>
                {table.columns.map((_, column) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: cells have no identity but their place.
                  <td key={column} data-numeric={numeric[column] || undefined}>
                    {formatCell(row[column])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <Group gap="xs" wrap="nowrap" p="8px 12px" bg="var(--sunken)" style={{ borderTop: '1px solid var(--line)' }}>
        <Text span me="auto" fz="xs" c="dimmed">
          {rows.length > shown
            ? `${shown} of ${rows.length} rows`
            : `${rows.length} ${rows.length === 1 ? 'row' : 'rows'}`}
        </Text>
        {rows.length > shown && (
          <Button size="compact-sm" variant="default" onClick={() => setShown(shown * 10)}>
            Show more
          </Button>
        )}
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<DownloadIcon />}
          onClick={() => downloadFile(`${name}.csv`, buildCsvFile({ columns: table.columns, rows }))}
        >
          CSV
        </Button>
      </Group>
    </Box>
  );
}

function toggleSort(sort: Sort | null, column: number): Sort | null {
  if (sort?.column !== column) return { column, descending: false };
  return sort.descending ? null : { column, descending: true };
}

function sortRows(rows: unknown[][], sort: Sort | null): unknown[][] {
  if (!sort) return rows;
  const sign = sort.descending ? -1 : 1;
  return rows.toSorted((a, b) => sign * compareCells(a[sort.column], b[sort.column]));
}
