import { Stack } from '@mantine/core';
import { Dialog } from '../../ui/dialog';
import { useShortcutGroups } from '../shortcuts';
import styles from './shortcut-help.module.css';

/** Lists the keyboard shortcuts of this page; its own come first. */
export function ShortcutHelp({ onClose }: { onClose: () => void }) {
  const groups = [...useShortcutGroups()].reverse();
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <Stack gap="lg" p="16px 24px 24px">
        {groups.map(({ title, shortcuts }) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl className={styles.keys}>
              {title === 'General' && <ShortcutRow keys="Ctrl K" description="Search or go to a page" />}
              {shortcuts.map(({ keys, description }) => (
                <ShortcutRow key={keys} keys={keys} description={description} />
              ))}
            </dl>
          </section>
        ))}
      </Stack>
    </Dialog>
  );
}

function ShortcutRow({ keys, description }: { keys: string; description: string }) {
  return (
    <div>
      <dt>
        {keys.split(' ').map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </dt>
      <dd>{description}</dd>
    </div>
  );
}
