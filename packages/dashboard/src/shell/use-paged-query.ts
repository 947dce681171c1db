import { type InfiniteData, type keepPreviousData, type QueryKey, useInfiniteQuery } from '@tanstack/react-query';
import { useWorkspace } from './use-me';

interface PagedQueryOptions {
  pageSize: number;
  placeholderData?: typeof keepPreviousData;
}

/**
 * Lists items of the current workspace page by page, once it is known.
 * @param loadPage from an offset, or from the item after the last one of the previous page
 */
export function usePagedQuery<Item>(
  buildKey: (workspaceId: string | undefined) => QueryKey,
  loadPage: (page: { limit: number; offset: number }, last: Item | undefined) => Promise<Item[]>,
  { pageSize, ...options }: PagedQueryOptions,
) {
  const workspaceId = useWorkspace()?.id;
  return useInfiniteQuery({
    queryKey: buildKey(workspaceId),
    queryFn: ({ pageParam: { offset, last } }) => loadPage({ limit: pageSize, offset }, last),
    initialPageParam: { offset: 0, last: undefined as Item | undefined },
    getNextPageParam: (page, _pages, { offset }) =>
      page.length === pageSize ? { offset: offset + pageSize, last: page.at(-1) } : undefined,
    select: flattenPages<Item>,
    enabled: workspaceId !== undefined,
    ...options,
  });
}

const flattenPages = <Item>({ pages }: InfiniteData<Item[]>): Item[] => pages.flat();
