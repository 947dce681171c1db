import { Skeleton } from '@mantine/core';
import rows from './skill-row.module.css';

const ROWS = ['a', 'b', 'c', 'd'];

/** As tall as the rows that are to come. */
export function LoadingSkills() {
  return (
    <ul className={rows.list} aria-busy="true" aria-label="Loading">
      {ROWS.map((row) => (
        <li key={row} className={rows.row}>
          <div className={rows.what}>
            <Skeleton height={20} width="40%" />
            <Skeleton height={14} width="70%" mt={8} />
          </div>
        </li>
      ))}
    </ul>
  );
}
