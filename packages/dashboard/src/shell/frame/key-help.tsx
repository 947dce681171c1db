import { Stack } from '@mantine/core';
import { Dialog } from '../../ui/dialog';
import { useShortcutGroups } from '../keys';
import styles from './key-help.module.css';

/** Lists the keyboard shortcuts of this page; its own come first. */
export function KeyHelp({ onClose }: { onClose: () => void }) {
  const groups = [...useShortcutGroups()].reverse();
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <Stack gap="lg" p="16px 24px 24px">
        {groups.map(({ title, shortcuts }) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl className={styles.keys}>
              {title === 'Everywhere' && <Key keys="Ctrl K" words="Search, or go to a page" />}
              {shortcuts.map(({ keys, words }) => (
                <Key key={keys} keys={keys} words={words} />
              ))}
            </dl>
          </section>
        ))}
      </Stack>
    </Dialog>
  );
}

function Key({ keys, words }: { keys: string; words: string }) {
  return (
    <div>
      <dt>
        {keys.split(' ').map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </dt>
      <dd>{words}</dd>
    </div>
  );
}
