import { Stack } from '@mantine/core';

/** Hosts or addresses, a line each. */
export const Lines = ({ lines }: { lines: readonly string[] }) => (
  <Stack component="ul" gap={4}>
    {lines.map((line) => (
      <li key={line} className="small-code">
        {line}
      </li>
    ))}
  </Stack>
);
