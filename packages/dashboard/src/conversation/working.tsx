import { Group } from '@mantine/core';
import styles from './conversation.module.css';

/** Shows that the agent is working. @param isSpeaking its text is streamed visibly */
export function Working({ isSpeaking = false }: { isSpeaking?: boolean }) {
  return (
    <Group component="p" className={styles.working} gap="xs" wrap="nowrap" fz="sm" c="dimmed">
      <span aria-hidden="true">
        <i />
        <i />
        <i />
      </span>
      {isSpeaking ? <span className="visually-hidden">Writing</span> : 'Working'}
    </Group>
  );
}
