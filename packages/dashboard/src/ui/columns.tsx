import { Box, type BoxProps } from '@mantine/core';
import type { ReactNode } from 'react';
import styles from './columns.module.css';

interface ColumnsProps extends Omit<BoxProps, 'className'> {
  /** CSS widths of the columns: by default those of a main part and an aside. */
  widths?: string;
  /** Width of the window below which the columns are stacked. */
  below?: '48rem' | '56rem' | '64rem';
  'aria-busy'?: boolean;
  children: ReactNode;
}

/** Lays out parts side by side, and one below the other in a narrow window. */
export function Columns(props: ColumnsProps) {
  const { widths = 'minmax(0, 1fr) minmax(18rem, 22.5rem)', below = '56rem', ...others } = props;
  return <Box className={styles.columns} data-below={below} __vars={{ '--columns': widths }} {...others} />;
}
