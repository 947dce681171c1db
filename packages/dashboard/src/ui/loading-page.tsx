import { Skeleton, Stack } from '@mantine/core';
import { Columns } from './columns';

/** @param columns CSS widths of the columns that will hold the two panels */
export function LoadingPage({ what, columns }: { what: string; columns?: string }) {
  return (
    <div aria-busy="true">
      <p className="visually-hidden" role="status">
        Loading {what}
      </p>
      <Stack gap="sm" align="flex-start" mb="lg">
        <Skeleton height={40} width="min(100%, 24rem)" />
        <Skeleton height={20} width="min(100%, 34rem)" />
      </Stack>
      <Columns widths={columns}>
        <Skeleton height={360} radius={10} />
        <Skeleton height={360} radius={10} />
      </Columns>
    </div>
  );
}
