import { DataTable, type DataTableProps } from './data-table';
import { ResourceList, type ResourceListProps } from './resource-list';

type ResourceTableProps<Row extends object> = Omit<ResourceListProps<Row>, 'children'> &
  Omit<DataTableProps<Row>, 'rows' | 'isPartial' | 'stacks'>;

/** Shows the items of a query as a table, its error, or an empty state. */
export function ResourceTable<Row extends object>({
  what,
  query,
  items,
  height,
  more,
  empty,
  ...table
}: ResourceTableProps<Row>) {
  return (
    <ResourceList what={what} query={query} items={items} height={height} more={more} empty={empty}>
      {(rows) => rows.length > 0 && <DataTable rows={rows} isPartial={query.hasNextPage} stacks {...table} />}
    </ResourceList>
  );
}
