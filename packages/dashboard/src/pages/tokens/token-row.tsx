import { Box, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Timestamp } from '../../ui/timestamp';

/** Columns for name, rights, last use, expiry and buttons of a token, key or app. */
export const TOKEN_COLUMNS = 'minmax(0, 1.6fr) repeat(3, minmax(0, 1fr)) auto';

/** @param prefix the part of its value that may be shown */
export const TokenName = ({ name, prefix }: { name: string; prefix: string }) => (
  <Text className="wrap-anywhere" fw={640}>
    {name}{' '}
    <Box component="code" fw={400} c="dimmed">
      {prefix}…
    </Box>
  </Text>
);

export const TokenFact = ({ tone, children }: { tone?: string; children: ReactNode }) => (
  <Text fz="sm" c="var(--tone, var(--ink-soft))" data-tone={tone}>
    {children}
  </Text>
);

export const LastUsed = ({ at }: { at: string | null }) => (
  <TokenFact>
    {at ? (
      <>
        Used <Timestamp at={Date.parse(at)} />
      </>
    ) : (
      'Never used'
    )}
  </TokenFact>
);
