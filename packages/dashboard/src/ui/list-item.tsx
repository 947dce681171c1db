import type { ReactNode } from 'react';
import styles from './panel-content.module.css';

/** A row of a panel's list: a thing by its name, something about it, and whatever can be done with it. */
export function ListItem({ what, about, children }: { what: ReactNode; about?: ReactNode; children?: ReactNode }) {
  return (
    <li>
      <div>
        <p className={styles.what}>{what}</p>
        {about && <p className={styles.about}>{about}</p>}
      </div>
      {children && <div className={styles.actions}>{children}</div>}
    </li>
  );
}
