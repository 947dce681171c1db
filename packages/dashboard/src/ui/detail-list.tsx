import type { ReactNode } from 'react';
import styles from './facts.module.css';

export type Detail = [name: string, value: ReactNode];

/** Lists names with their values; leaves out those without a value (null, undefined or false). */
export const DetailList = ({ details }: { details: Detail[] }) => (
  <dl className={styles.facts}>
    {details.map(
      ([name, value]) =>
        (value ?? false) !== false && (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
    )}
  </dl>
);
