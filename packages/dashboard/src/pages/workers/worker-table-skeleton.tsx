import { Box, Skeleton, Stack } from '@mantine/core';

const ROWS = ['a', 'b', 'c', 'd', 'e'];

export function WorkerTableSkeleton() {
  return (
    <Box className="surface divided" pos="relative" style={{ containerType: 'inline-size' }} aria-busy="true">
      <p className="visually-hidden" role="status">
        Loading workers…
      </p>
      {ROWS.map((row) => (
        <Stack key={row} gap="xs" justify="center" mih="4.75rem" p="12px 24px">
          <Skeleton height={20} width="min(60%, 16rem)" />
          <Skeleton height={14} width="min(80%, 22rem)" />
        </Stack>
      ))}
    </Box>
  );
}
