import { Text } from '@mantine/core';
import { Children, type ReactNode } from 'react';

/** Shows the name of a row; each child is a smaller line below it. */
export function NameCell({ name, children }: { name: ReactNode; children?: ReactNode }) {
  return (
    <>
      <Text className="wrap-anywhere" fz="md" fw={640}>
        {name}
      </Text>
      {Children.map(
        children,
        (line) =>
          line && (
            <Text className="wrap-anywhere" fz="sm" c="dimmed">
              {line}
            </Text>
          ),
      )}
    </>
  );
}
