import type { ReactNode } from 'react';
import { toast } from '../shell/toasts';
import { ResourceList } from '../ui/resource-list';
import type { ListedVersion } from './version-list';
import { VersionsView } from './versions-view';

/** The parts of an infinite query of versions that the page shows. */
interface VersionQuery<Version> {
  data: { pages: Version[][] } | undefined;
  error: Error | null;
  refetch: () => void;
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => unknown;
}

interface VersionsPageProps<Version> {
  query: VersionQuery<Version>;
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
            toast(`Not undone: ${failure.message}`, { tone: 'error' }),
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
