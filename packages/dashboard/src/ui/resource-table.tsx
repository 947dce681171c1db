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

type PanelTableProps<Row extends { id: string }> = Omit<
  ResourceTableProps<Row>,
  'what' | 'items' | 'query' | 'getKey'
> & {
  /** The rows, as in an error message: `tokens`. */
  noun: string;
  query: ResourceTableProps<Row>['query'] & { data: Row[] | undefined };
};

/** Shows the items of a query as a short table in a panel. */
export const PanelTable = <Row extends { id: string }>({ noun, query, ...table }: PanelTableProps<Row>) => (
  <ResourceTable what={`The ${noun}`} query={query} items={query.data} height={80} getKey={({ id }) => id} {...table} />
);
