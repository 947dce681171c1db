import { Skeleton } from '@mantine/core';
import links from '../ui/link-row.module.css';
import rows from './skill-row.module.css';

const ROWS = ['a', 'b', 'c', 'd'];

/** Has the height of the rows that it stands for. */
export function SkillListSkeleton() {
  return (
    <ul className={`${links.card} surface`} aria-busy="true" aria-label="Loading">
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
