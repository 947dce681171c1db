import { Skeleton, Stack } from '@mantine/core';
import links from './link-row.module.css';

const ROWS = ['a', 'b', 'c', 'd'];

/** Stands for a list of names with a sentence below each. */
export const LoadingRows = () => (
  <ul className={`${links.card} divided surface`} aria-busy="true" aria-label="Loading">
    {ROWS.map((row) => (
      <Stack component="li" key={row} gap="xs">
        <Skeleton height={20} width="40%" />
        <Skeleton height={14} width="70%" />
      </Stack>
    ))}
  </ul>
);
