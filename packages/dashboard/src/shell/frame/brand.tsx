import { Link } from 'react-router';
import { paths } from '../paths';
import styles from './page-layout.module.css';

/** A gantry crane with its load: the mark is the favicon's, drawn in the colours of the page. */
export function Brand({ isNarrow = false }: { isNarrow?: boolean }) {
  return (
    <Link to={paths.home} className={styles.brand}>
      <svg width="28" height="22" viewBox="0 0 28 22" fill="none" aria-hidden="true" focusable="false">
        <path d="M2 4h24M5.5 4v16M22.5 4v16M14 4v6" stroke="var(--accent)" strokeWidth="2.4" strokeLinecap="round" />
        <rect x="10" y="10" width="8" height="6.5" rx="1.2" fill="var(--load)" />
      </svg>
      <span className={isNarrow ? 'visually-hidden' : undefined}>Gantry</span>
    </Link>
  );
}
