import { Box } from '@mantine/core';
import type { ReactNode } from 'react';
import styles from './facts.module.css';

export type Detail = [name: string, value: ReactNode];

/** Lists names with their values; leaves out those without a value (null, undefined or false). */
export const DetailList = ({ details }: { details: Detail[] }) => (
  <dl className={`${styles.facts} wrap-anywhere`}>
    {details.map(
      ([name, value]) =>
        (value ?? false) !== false && (
          <div key={name}>
            <Box component="dt" c="dimmed">
              {name}
            </Box>
            <Box component="dd" className="pre-wrap" fw={600}>
              {value}
            </Box>
          </div>
        ),
    )}
  </dl>
);
