import type { ReactNode } from 'react';
import styles from './scope-list.module.css';

interface Scope {
  name: string;
  /** In words; the name again where there are none. */
  description: string;
}

interface ScopeListProps {
  scopes: readonly Scope[];
  children?: (scope: Scope) => ReactNode;
}

/** Rights in words, each with the name that its provider has for it. */
export const ScopeList = ({ scopes, children }: ScopeListProps) => (
  <ul className={styles.scopes} aria-label="Rights">
    {scopes.map((scope) => (
      <li key={scope.name}>
        <span className={styles.words}>{scope.description}</span>
        {scope.description !== scope.name && <code className={styles.name}>{scope.name}</code>}
        {children?.(scope)}
      </li>
    ))}
  </ul>
);
