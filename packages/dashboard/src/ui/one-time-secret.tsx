import { Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { CodeToCopy } from './code-to-copy';

/** A value that is shown once, right after it was made. */
export function OneTimeSecret({ label, value, children }: { label: string; value: string; children: ReactNode }) {
  return (
    <Stack gap="sm" mb="md" role="status">
      <p>{children}</p>
      <CodeToCopy label={label} code={value} />
    </Stack>
  );
}
