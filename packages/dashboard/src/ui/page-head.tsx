import type { ReactNode } from 'react';
import styles from './page-head.module.css';

interface PageHeadProps {
  title: ReactNode;
  /** A sentence or some facts below the title. */
  about?: ReactNode;
  /** Buttons; the most important one last. */
  actions?: ReactNode;
}

/** The top of a page: its heading, and what can be done with the page as a whole. */
export function PageHead({ title, about, actions }: PageHeadProps) {
  return (
    <div className={styles.head}>
      <div className={styles.words}>
        <h1>{title}</h1>
        {about && <div className={styles.about}>{about}</div>}
      </div>
      {actions && <div className={styles.actions}>{actions}</div>}
    </div>
  );
}
