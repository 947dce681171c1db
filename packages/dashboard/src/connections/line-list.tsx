import { Stack } from '@mantine/core';

/** Lists hosts or addresses, one per line. */
export const LineList = ({ lines }: { lines: readonly string[] }) => (
  <Stack component="ul" gap={4}>
    {lines.map((line) => (
      <li key={line} className="small-code">
        {line}
      </li>
    ))}
  </Stack>
);
