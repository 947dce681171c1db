import { Box, Group, Text, useMantineColorScheme } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { useNavigate } from 'react-router';
import { Dialog } from '../../ui/dialog';
import { SearchIcon } from '../../ui/icons';
import { paths, workerRunPath } from '../paths';
import { session } from '../session';
import { useMe } from '../use-me';
import { useSwitchWorkspace } from '../use-switch-workspace';
import styles from './command-palette.module.css';
import type { PaletteItem } from './palette-item';
import { SECTIONS } from './sections';
import { useResourceSearch } from './use-resource-search';

const SEARCH_DEBOUNCE_MS = 120;
const RUN_ID = /^run_\w{6,60}$/;

interface CommandPaletteProps {
  onClose: () => void;
  onKeys: () => void;
}

/** The command palette: finds pages, resources and actions by a few letters. */
export default function CommandPalette({ onClose, onKeys }: CommandPaletteProps) {
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const [searchText] = useDebouncedValue(text.trim(), SEARCH_DEBOUNCE_MS);
  const searchResults = useResourceSearch(searchText);
  const commands = useCommands(onKeys);
  const words = text.trim().toLowerCase().split(/\s+/);
  const matches = ({ label, group }: PaletteItem) =>
    words.every((word) => `${label} ${group}`.toLowerCase().includes(word));
  const choices = [
    ...buildRunItems(text.trim(), useNavigate()),
    ...commands.filter(matches),
    ...(text.trim() ? searchResults.found : []),
  ];
  const activeIndex = Math.min(active, choices.length - 1);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  });

  function runItem(item: PaletteItem | undefined) {
    if (!item) return;
    onClose();
    item.run();
  }
  function onKeyDown(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) setActive((activeIndex + step + choices.length) % Math.max(1, choices.length));
    else if (event.key === 'Enter') runItem(choices[activeIndex]);
    else return;
    event.preventDefault();
  }

  return (
    <Dialog title="Search or go to" bare onClose={onClose}>
      <Group gap="sm" wrap="nowrap" p="0 16px" c="dimmed" style={{ borderBottom: '1px solid var(--line)' }}>
        <SearchIcon />
        <input
          className={styles.input}
          role="combobox"
          aria-label="Search or go to"
          aria-expanded
          aria-controls={id}
          aria-activedescendant={choices.length > 0 ? `${id}-${activeIndex}` : undefined}
          placeholder="Search pages, workers, run IDs and actions"
          autoComplete="off"
          spellCheck={false}
          value={text}
          onKeyDown={onKeyDown}
          onChange={(event) => {
            setText(event.currentTarget.value);
            setActive(0);
          }}
        />
      </Group>
      <Box
        ref={list}
        id={id}
        role="listbox"
        aria-label="Results"
        mah="min(24rem, 60dvh)"
        p="xs"
        style={{ overflowY: 'auto' }}
      >
        {choices.map((choice, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above handles the keys for all of them.
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field, which names the chosen one.
          <div
            key={choice.id}
            id={`${id}-${at}`}
            role="option"
            aria-selected={at === activeIndex}
            className={styles.choice}
            onMouseMove={() => setActive(at)}
            onClick={() => runItem(choice)}
          >
            <Text span className="wrap-anywhere">
              {choice.label}
            </Text>
            <Text span flex="none" fz="xs" c="dimmed">
              {choice.about ?? choice.group}
            </Text>
          </div>
        ))}
      </Box>
      <p className={styles.none} role="status">
        {choices.length === 0 && (searchResults.isLooking ? 'Searching…' : 'No results.')}
      </p>
    </Dialog>
  );
}

const buildRunItems = (text: string, navigate: ReturnType<typeof useNavigate>): PaletteItem[] =>
  RUN_ID.test(text)
    ? [{ id: text, group: 'Run', label: `Open run ${text}`, run: () => navigate(workerRunPath(text)) }]
    : [];

/** Lists pages and actions, which need no request. */
function useCommands(onKeys: () => void): PaletteItem[] {
  const navigate = useNavigate();
  const { toggleColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const { data: me } = useMe();
  const moveTo = useSwitchWorkspace();
  const toPageItem = (label: string, path: string): PaletteItem => ({
    id: path,
    group: 'Page',
    label,
    run: () => navigate(path),
  });
  const toActionItem = (label: string, run: () => void): PaletteItem => ({ id: label, group: 'Action', label, run });
  const others = me?.workspaces.filter(({ id }) => id !== me.workspace_id) ?? [];
  return [
    ...SECTIONS.flat().map(({ label, path }) => toPageItem(label, path)),
    toPageItem('Members', paths.members),
    toPageItem('Tokens', paths.tokens),
    toPageItem('Models and budget', paths.models),
    toPageItem('Usage and budgets', paths.usage),
    toPageItem('Audit log', paths.auditLog),
    toPageItem('Workspace settings', paths.workspace),
    toPageItem('Your account', paths.account),
    toActionItem('New worker', () => navigate(paths.newWorker)),
    toActionItem('New automation', () => navigate(paths.newAutomation)),
    toActionItem('Create a worker or automation', () => navigate(paths.create)),
    toActionItem('New connection', () => navigate(paths.newConnection)),
    toActionItem('Ask the agent', () => navigate(paths.chat)),
    toActionItem('Switch between light and dark mode', toggleColorScheme),
    toActionItem('Show keyboard shortcuts', onKeys),
    ...others.map(({ id, name }) => toActionItem(`Switch to ${name}`, () => moveTo(id))),
    toActionItem('Sign out', () => session.signOut()),
  ];
}
