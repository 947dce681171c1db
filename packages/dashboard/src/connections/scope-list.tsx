import { Box, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';

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
  <Box component="ul" className="divided" my="-xs" aria-label="Permissions">
    {scopes.map((scope) => (
      <Stack component="li" key={scope.name} gap={0} py="xs">
        <Text span className="wrap-anywhere">
          {scope.description}
        </Text>
        {scope.description !== scope.name && (
          <Box component="code" className="small-code" c="dimmed">
            {scope.name}
          </Box>
        )}
        {children?.(scope)}
      </Stack>
    ))}
  </Box>
);
