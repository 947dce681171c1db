import { ActionIcon, Button, Group, NativeSelect } from '@mantine/core';
import type { Ref } from 'react';
import { DownIcon, DownloadIcon, UpIcon } from '../../ui/icons';
import { SearchField } from '../../ui/search-field';
import type { Level } from './log-line';
import type { Clock } from './log-rows';
import styles from './run-log.module.css';

interface LogToolbarProps {
  searchField: Ref<HTMLInputElement>;
  text: string;
  onText: (text: string) => void;
  hits: number;
  /** Among the hits; null before one was gone to. */
  hitPlace: number | null;
  onHit: (step: 1 | -1) => void;
  view: LogView;
  onView: (view: LogView) => void;
  onSave: () => void;
}

/** Choices of the reader about how the log is shown. */
export interface LogView {
  /** The lowest level that is shown. */
  level: Level;
  clock: Clock;
  wrap: boolean;
}

const LEVEL_OPTIONS: { value: Level; label: string }[] = [
  { value: 'debug', label: 'All levels' },
  { value: 'info', label: 'Info and above' },
  { value: 'warning', label: 'Warnings and errors' },
  { value: 'error', label: 'Errors' },
];

const CLOCK_OPTIONS: { value: Clock; label: string }[] = [
  { value: 'elapsed', label: 'Elapsed seconds' },
  { value: 'time', label: 'Time of day' },
];

export function LogToolbar(props: LogToolbarProps) {
  const { text, hits, hitPlace, onHit, view, onView } = props;
  return (
    <Group gap="xs" role="toolbar" aria-label="Log controls">
      <SearchField
        ref={props.searchField}
        flex="1 1 6rem"
        size="xs"
        label="Search log"
        value={text}
        onChange={props.onText}
        onKeyDown={(event) => {
          if (event.key === 'Escape') props.onText('');
          if (event.key !== 'Enter') return;
          event.preventDefault();
          onHit(event.shiftKey ? -1 : 1);
        }}
      />
      {text !== '' && (
        <Group className="tabular-nums" gap={4} wrap="nowrap" fz="xs" c="dimmed">
          <span role="status">
            {hits === 0
              ? 'No matches'
              : hitPlace === null
                ? `${hits} ${hits === 1 ? 'match' : 'matches'}`
                : `${hitPlace + 1} of ${hits}`}
          </span>
          <ActionIcon variant="default" aria-label="Previous match" disabled={hits === 0} onClick={() => onHit(-1)}>
            <UpIcon />
          </ActionIcon>
          <ActionIcon variant="default" aria-label="Next match" disabled={hits === 0} onClick={() => onHit(1)}>
            <DownIcon />
          </ActionIcon>
        </Group>
      )}
      <NativeSelect
        size="xs"
        aria-label="Log level"
        data={LEVEL_OPTIONS}
        value={view.level}
        onChange={(event) => onView({ ...view, level: event.currentTarget.value as Level })}
      />
      <NativeSelect
        size="xs"
        aria-label="Timestamp format"
        data={CLOCK_OPTIONS}
        value={view.clock}
        onChange={(event) => onView({ ...view, clock: event.currentTarget.value as Clock })}
      />
      <Button
        size="xs"
        variant="default"
        aria-pressed={view.wrap}
        className={styles.toggle}
        onClick={() => onView({ ...view, wrap: !view.wrap })}
      >
        Wrap lines
      </Button>
      <Button size="xs" variant="default" leftSection={<DownloadIcon />} onClick={props.onSave}>
        Download
      </Button>
    </Group>
  );
}
