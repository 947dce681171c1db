import { Box, Skeleton } from '@mantine/core';
import styles from './workers-page.module.css';

const ROWS = ['a', 'b', 'c', 'd', 'e'];

export function LoadingTable() {
  return (
    <Box className="surface" pos="relative" style={{ containerType: 'inline-size' }} aria-busy="true">
      <p className="visually-hidden" role="status">
        Loading the workers
      </p>
      {ROWS.map((row) => (
        <div key={row} className={styles.loadingRow}>
          <Skeleton height={20} width="min(60%, 16rem)" />
          <Skeleton height={14} width="min(80%, 22rem)" />
        </div>
      ))}
    </Box>
  );
}
