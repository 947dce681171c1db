import { Button, Skeleton } from '@mantine/core';
import type { ReactNode } from 'react';
import { LoadErrorNotice } from './notice';

/** The parts of a query that the list uses; an infinite query has further pages. */
export interface ListQuery {
  error: Error | null;
  refetch: () => void;
  hasNextPage?: boolean;
  isFetchingNextPage?: boolean;
  fetchNextPage?: () => unknown;
}

export interface ResourceListProps<Item> {
  /** Subject of the error message. */
  what: string;
  query: ListQuery;
  /** Undefined while they are loading. */
  items: Item[] | undefined;
  /** Height of the skeleton in pixels. */
  height?: number | undefined;
  /** Label of the button that loads the next page. */
  more?: string | undefined;
  /** Shown where there are no items. */
  empty?: ReactNode;
  children: (items: Item[]) => ReactNode;
}

/** Shows the items of a query, its error, or an empty state. Loaded items stay when a refetch fails. */
export function ResourceList<Item>(props: ResourceListProps<Item>) {
  const { what, query, items, height = 240, more = 'Show more', empty, children } = props;
  if (!items && query.error) return <LoadErrorNotice what={what} error={query.error} retry={query.refetch} />;
  if (!items) return <Skeleton height={height} radius={10} />;
  if (items.length === 0 && empty !== undefined) return empty;
  return (
    <>
      {children(items)}
      {query.hasNextPage && (
        <Button variant="default" mt="md" loading={query.isFetchingNextPage} onClick={() => query.fetchNextPage?.()}>
          {more}
        </Button>
      )}
    </>
  );
}
