import { Group } from '@mantine/core';
import styles from './conversation.module.css';

/** Shows that the agent is working. @param isStreaming its text is streamed visibly */
export function WorkingIndicator({ isStreaming = false }: { isStreaming?: boolean }) {
  return (
    <Group component="p" className={styles.working} gap="xs" wrap="nowrap" fz="sm" c="dimmed">
      <Group component="span" display="inline-flex" gap={4} wrap="nowrap" aria-hidden="true">
        <i />
        <i />
        <i />
      </Group>
      {isStreaming ? <span className="visually-hidden">Writing</span> : 'Working'}
    </Group>
  );
}
