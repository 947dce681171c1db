import { Box, Text } from '@mantine/core';
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
  <ul className={`${styles.scopes} divided`} aria-label="Rights">
    {scopes.map((scope) => (
      <li key={scope.name}>
        <Text span className="wrap-anywhere">
          {scope.description}
        </Text>
        {scope.description !== scope.name && (
          <Box component="code" className="small-code" c="dimmed">
            {scope.name}
          </Box>
        )}
        {children?.(scope)}
      </li>
    ))}
  </ul>
);
