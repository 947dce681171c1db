import { Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** Shows a row of a panel's list: a name, details and actions. */
export function ListItem({ title, about, children }: { title: ReactNode; about?: ReactNode; children?: ReactNode }) {
  return (
    <li>
      <div>
        <Text className="wrap-anywhere" fw={640}>
          {title}
        </Text>
        {about && <p className="caption">{about}</p>}
      </div>
      {children && <Group gap="xs">{children}</Group>}
    </li>
  );
}
