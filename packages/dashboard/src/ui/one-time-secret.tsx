import { Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { CopyableCode } from './copyable-code';

/** Shows a value once, right after it was created. */
export function OneTimeSecret({ label, value, children }: { label: string; value: string; children: ReactNode }) {
  return (
    <Stack gap="sm" mb="md" role="status">
      <p>{children}</p>
      <CopyableCode label={label} code={value} />
    </Stack>
  );
}
