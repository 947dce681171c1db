import { Box, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import styles from './scope-list.module.css';

interface Scope {
  name: string;
  /** Equal to the name where there is no description. */
  description: string;
}

interface ScopeListProps {
  scopes: readonly Scope[];
  children?: (scope: Scope) => ReactNode;
}

/** Lists the descriptions of scopes, each with its provider's name for it. */
export const ScopeList = ({ scopes, children }: ScopeListProps) => (
  <ul className={`${styles.scopes} divided`} aria-label="Permissions">
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
