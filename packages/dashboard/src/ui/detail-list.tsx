import type { ReactNode } from 'react';
import styles from './facts.module.css';

/** Lists names with their values. */
export function DetailList({ details }: { details: [name: string, value: ReactNode][] }) {
  return (
    <dl className={styles.facts}>
      {details.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
