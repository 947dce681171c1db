import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { toast } from '../shell/toasts';
import { useWorkspace } from '../shell/use-me';
import { ResourceList } from '../ui/resource-list';
import type { ListedVersion } from './version-list';
import { VersionsView } from './versions-view';

const PAGE_SIZE = 50;

interface PageQuery {
  limit: number;
  offset: number;
}

/** Loads versions, newest first. @param queryKey has the current version, because each new one changes the list */
export function useVersions<Version>(queryKey: readonly unknown[], load: (query: PageQuery) => Promise<Version[]>) {
  const workspaceId = useWorkspace()?.id;
  return useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam: offset }) => load({ limit: PAGE_SIZE, offset }),
    initialPageParam: 0,
    getNextPageParam: (last, _pages, offset) => (last.length === PAGE_SIZE ? offset + PAGE_SIZE : undefined),
    placeholderData: (before) => before,
    enabled: workspaceId !== undefined,
  });
}

interface VersionsPageProps<Version> {
  query: ReturnType<typeof useVersions<Version>>;
  toListed: (version: Version) => ListedVersion;
  /** The worker or context; `sha` of its current version. */
  resource: { name: string; sha: string };
  /** Creates a new version equal to this one. Absent: the member may not. */
  rollBackTo: ((sha: string, message: string | undefined) => Promise<void>) | undefined;
  /** Compares two versions; null: with nothing. */
  compare: (from: ListedVersion | null, to: ListedVersion) => ReactNode;
}

/** Shows the version history of a worker or a context; a rollback can be undone. */
export function VersionsPage<Version>({ query, toListed, resource, rollBackTo, compare }: VersionsPageProps<Version>) {
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  const rollBack =
    rollBackTo &&
    (async ({ version, sha }: ListedVersion, message: string | undefined) => {
      const before = resource.sha;
      await rollBackTo(sha, message);
      toast(`Rolled ${resource.name} back to version ${version}`, {
        undo: () =>
          void rollBackTo(before, undefined).catch((failure: Error) =>
            toast(`Couldn’t undo rollback: ${failure.message}`, { tone: 'error' }),
          ),
      });
    });
  return (
    <ResourceList what="The versions" query={{ error, refetch }} items={data?.pages.flat()} height={360}>
      {(versions) => (
        <VersionsView
          versions={versions.map(toListed)}
          more={hasNextPage ? { isLoading: isFetchingNextPage, load: () => void fetchNextPage() } : undefined}
          rollBack={rollBack}
          compare={compare}
        />
      )}
    </ResourceList>
  );
}
