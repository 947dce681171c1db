import type { Column } from './table-model';
import { Timestamp } from './timestamp';

interface TimeColumnOptions extends Pick<Column<object>, 'hidesBelow' | 'isLabelled' | 'className'> {
  /** Shown in rows without a time. */
  none?: string;
}

/** Builds a column of relative times. @param getTime an ISO time, or null */
export const buildTimeColumn = <Row extends object>(
  header: string,
  getTime: (row: Row) => string | null,
  { none, className = '', ...column }: TimeColumnOptions = {},
): Column<Row> => ({
  head: header,
  isLabelled: true,
  className: `nowrap ${className}`,
  ...column,
  sortBy: (row) => {
    const time = getTime(row);
    return time && Date.parse(time);
  },
  cell: (row) => {
    const time = getTime(row);
    return time === null ? none : <Timestamp at={Date.parse(time)} />;
  },
});
