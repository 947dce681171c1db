import { Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { CodeToCopy } from './code-to-copy';

/** Shows a value once, right after it was created. */
export function OneTimeSecret({ label, value, children }: { label: string; value: string; children: ReactNode }) {
  return (
    <Stack gap="sm" mb="md" role="status">
      <p>{children}</p>
      <CodeToCopy label={label} code={value} />
    </Stack>
  );
}
