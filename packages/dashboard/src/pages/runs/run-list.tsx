import { Box, Button, Group, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Link } from 'react-router';
import { RunStatusChip } from '../../runs/run-status';
import { useRunStarterLabel } from '../../runs/use-run-starter-label';
import { formatDollars, formatDuration } from '../../ui/format';
import { Timestamp } from '../../ui/timestamp';
import styles from './run-list.module.css';
import { getRunStatusLabel, type RunRow } from './run-row';

/** Row heights of the style sheet. */
const ROW_PX = 44;
const NARROW_ROW_PX = 76;
/** Older runs are loaded once fewer than this many rows follow the last one in view. */
const PREFETCH_ROWS = 25;
/** A page scans 10,000 runs. */
const EMPTY_PAGES_MAX = 20;

interface RunListProps {
  rows: RunRow[];
  hasOlder: boolean;
  onLoadOlder: () => void;
  getName: (row: RunRow) => string;
  /** Null for a viewer, who can change nothing. */
  selection: { keys: ReadonlySet<string>; onChange: (keys: ReadonlySet<string>) => void } | null;
}

/** Renders only the rows in view. New rows above do not move the viewport. */
export function RunList({ rows, hasOlder, onLoadOlder, getName, selection }: RunListProps) {
  const box = useRef<HTMLDivElement>(null);
  const isNarrow = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const rowPx = isNarrow ? NARROW_ROW_PX : ROW_PX;
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => rowPx,
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 12,
    useFlushSync: false,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows have another height then.
  useEffect(() => list.measure(), [rowPx]);
  useScrollAnchor(box, rows, rowPx);
  const getStarter = useRunStarterLabel();
  const visibleItems = list.getVirtualItems();
  const last = visibleItems.at(-1)?.index ?? -1;
  const olderLoader = useLoadOlder(rows.length, hasOlder && last >= rows.length - PREFETCH_ROWS, onLoadOlder);

  const isAll = selection !== null && rows.length > 0 && rows.every(({ key }) => selection.keys.has(key));
  return (
    <section
      ref={box}
      className={`${styles.box} surface`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
      tabIndex={0}
      aria-label="List of runs"
      data-selects={selection !== null}
    >
      <div className={`${styles.head} ${styles.row}`}>
        {selection && (
          <input
            type="checkbox"
            aria-label="Select all visible runs"
            checked={isAll}
            onChange={() => selection.onChange(new Set(isAll ? [] : rows.map(({ key }) => key)))}
          />
        )}
        <span>Status</span>
        <span>Source</span>
        <span>Started by</span>
        <span>Started</span>
        <span className={styles.number}>Duration</span>
        <span className={styles.number}>Cost</span>
      </div>
      <ol className={styles.body} aria-label="Runs" style={{ position: 'relative', height: list.getTotalSize() }}>
        {visibleItems.map(({ index, start }) => {
          const row = rows[index];
          return (
            row && (
              <RunListRow
                key={row.key}
                row={row}
                ariaPosition={{ 'aria-posinset': index + 1, 'aria-setsize': hasOlder ? -1 : rows.length }}
                start={start}
                name={getName(row)}
                startedBy={getStarter(row)}
                isSelected={selection?.keys.has(row.key)}
                onSelect={
                  selection
                    ? () => {
                        const next = new Set(selection.keys);
                        if (!next.delete(row.key)) next.add(row.key);
                        selection.onChange(next);
                      }
                    : undefined
                }
              />
            )
          );
        })}
      </ol>
      {hasOlder && (
        <Box p="12px 16px" fz="xs" c="dimmed">
          {olderLoader.isTired ? (
            <Button variant="default" onClick={olderLoader.resume}>
              No matches yet. Search older runs
            </Button>
          ) : (
            <p>Loading older runs…</p>
          )}
        </Box>
      )}
    </section>
  );
}

interface RunListRowProps {
  row: RunRow;
  ariaPosition: { 'aria-posinset': number; 'aria-setsize': number };
  start: number;
  name: string;
  startedBy: string;
  isSelected: boolean | undefined;
  onSelect: (() => void) | undefined;
}

const RunListRow = ({ row, ariaPosition, start, name, startedBy, isSelected, onSelect }: RunListRowProps) => (
  <li
    {...ariaPosition}
    className={styles.row}
    data-selected={isSelected || undefined}
    style={{ transform: `translateY(${start}px)` }}
  >
    {onSelect && (
      <input
        type="checkbox"
        className={styles.check}
        aria-label={`Select ${name} run, ${getRunStatusLabel(row)}`}
        checked={isSelected}
        onChange={onSelect}
      />
    )}
    <span className={styles.status}>
      <RunStatusChip {...row.shown} />
    </span>
    <Group component="span" className={`${styles.what} nowrap`} gap="xs" align="baseline" wrap="nowrap" miw={0}>
      <Link to={row.to} className={styles.link}>
        {name}
      </Link>
      {row.version !== null && (
        <Text span c="dimmed" fz="xs">
          v{row.version}
        </Text>
      )}
      {row.error && (
        <Text span fz="xs" c="var(--error)" truncate miw={0} title={row.error}>
          {row.error}
        </Text>
      )}
    </Group>
    <Text span className={styles.starter} c="dimmed" fz="xs" truncate title={startedBy}>
      {startedBy}
    </Text>
    <Text span className={styles.time} c="dimmed" fz="xs">
      <Timestamp at={row.startedAt ?? row.createdAt} />
    </Text>
    <span className={`${styles.number} ${styles.duration}`}>
      {row.durationMs !== null && formatDuration(row.durationMs)}
    </span>
    <span className={`${styles.number} ${styles.cost}`}>
      {row.costUsd !== null && row.costUsd > 0 && formatDollars(row.costUsd)}
    </span>
  </li>
);

/** Loads older pages automatically, until many pages in a row have no match. */
function useLoadOlder(count: number, isNear: boolean, onLoadOlder: () => void) {
  const [isPaused, setPaused] = useState(false);
  const emptyPages = useRef({ count: -1, pages: 0 });
  useEffect(() => {
    if (!isNear || isPaused) return;
    const before = emptyPages.current;
    const pages = before.count === count ? before.pages : 0;
    if (pages >= EMPTY_PAGES_MAX) return setPaused(true);
    onLoadOlder();
    emptyPages.current = { count, pages: pages + 1 };
  }, [count, isNear, isPaused, onLoadOlder]);
  return {
    isTired: isPaused,
    resume() {
      emptyPages.current = { count, pages: 0 };
      setPaused(false);
    },
  };
}

/** Anchors the topmost visible run after scrolling down, however many new runs are added above it. */
function useScrollAnchor(box: { current: HTMLDivElement | null }, rows: RunRow[], rowPx: number) {
  const before = useRef(rows);
  useLayoutEffect(() => {
    const list = box.current;
    const earlier = before.current;
    before.current = rows;
    if (!list || earlier === rows || list.scrollTop < rowPx) return;
    const ariaPosition = Math.floor(list.scrollTop / rowPx);
    const key = earlier[ariaPosition]?.key;
    const now = rows.findIndex((row) => row.key === key);
    if (now >= 0 && now !== ariaPosition) list.scrollTop += (now - ariaPosition) * rowPx;
  }, [box, rows, rowPx]);
}
