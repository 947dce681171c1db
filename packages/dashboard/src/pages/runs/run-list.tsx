import { Box, Button, Group, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Link } from 'react-router';
import { RunStatusChip } from '../../runs/run-status';
import { useStarter } from '../../runs/use-starter';
import { dollars, duration } from '../../ui/format';
import { Timestamp } from '../../ui/timestamp';
import styles from './run-list.module.css';
import { type RunRow, wordOf } from './run-row';

/** Row heights of the style sheet. */
const ROW_PX = 44;
const NARROW_ROW_PX = 76;
/** Older runs are loaded once fewer than this many rows follow the last one in view. */
const AHEAD = 25;
/** A page scans 10,000 runs. */
const FRUITLESS_MAX = 20;

interface RunListProps {
  rows: RunRow[];
  hasOlder: boolean;
  onOlder: () => void;
  nameOf: (row: RunRow) => string;
  /** Null for a viewer, who can change nothing. */
  selection: { keys: ReadonlySet<string>; onChange: (keys: ReadonlySet<string>) => void } | null;
}

/** Renders only the rows in view. New rows above do not move the viewport. */
export function RunList({ rows, hasOlder, onOlder, nameOf, selection }: RunListProps) {
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
  useKeptPlace(box, rows, rowPx);
  const starterOf = useStarter();
  const drawn = list.getVirtualItems();
  const last = drawn.at(-1)?.index ?? -1;
  const reader = useOlder(rows.length, hasOlder && last >= rows.length - AHEAD, onOlder);

  const isAll = selection !== null && rows.length > 0 && rows.every(({ key }) => selection.keys.has(key));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section ref={box} className={styles.box} tabIndex={0} aria-label="List of runs" data-selects={selection !== null}>
      <div className={`${styles.head} ${styles.row}`}>
        {selection && (
          <input
            type="checkbox"
            aria-label="Select all runs that are shown"
            checked={isAll}
            onChange={() => selection.onChange(new Set(isAll ? [] : rows.map(({ key }) => key)))}
          />
        )}
        <span>Status</span>
        <span>Run of</span>
        <span>Started by</span>
        <span>Started</span>
        <span className={styles.number}>Duration</span>
        <span className={styles.number}>Cost</span>
      </div>
      <ol className={styles.body} aria-label="Runs" style={{ height: list.getTotalSize() }}>
        {drawn.map(({ index, start }) => {
          const row = rows[index];
          return (
            row && (
              <Row
                key={row.key}
                row={row}
                place={{ 'aria-posinset': index + 1, 'aria-setsize': hasOlder ? -1 : rows.length }}
                start={start}
                name={nameOf(row)}
                starter={starterOf(row)}
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
          {reader.isTired ? (
            <Button variant="default" onClick={reader.goOn}>
              No matches so far. Search older runs
            </Button>
          ) : (
            <p>Loading older runs…</p>
          )}
        </Box>
      )}
    </section>
  );
}

interface RowProps {
  row: RunRow;
  place: { 'aria-posinset': number; 'aria-setsize': number };
  start: number;
  name: string;
  starter: string;
  isSelected: boolean | undefined;
  onSelect: (() => void) | undefined;
}

const Row = ({ row, place, start, name, starter, isSelected, onSelect }: RowProps) => (
  <li
    {...place}
    className={styles.row}
    data-selected={isSelected || undefined}
    style={{ transform: `translateY(${start}px)` }}
  >
    {onSelect && (
      <input
        type="checkbox"
        className={styles.check}
        aria-label={`Select the run of ${name}, ${wordOf(row)}`}
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
        <span className={styles.error} title={row.error}>
          {row.error}
        </span>
      )}
    </Group>
    <Text span className={styles.starter} c="dimmed" fz="xs" truncate title={starter}>
      {starter}
    </Text>
    <Text span className={styles.time} c="dimmed" fz="xs">
      <Timestamp at={row.startedAt ?? row.createdAt} />
    </Text>
    <span className={`${styles.number} ${styles.duration}`}>{row.durationMs !== null && duration(row.durationMs)}</span>
    <span className={`${styles.number} ${styles.cost}`}>
      {row.costUsd !== null && row.costUsd > 0 && dollars(row.costUsd)}
    </span>
  </li>
);

/** Loads older pages automatically, until many pages in a row have no match. */
function useOlder(count: number, isNear: boolean, onOlder: () => void) {
  const [isTired, setTired] = useState(false);
  const fruitless = useRef({ count: -1, pages: 0 });
  useEffect(() => {
    if (!isNear || isTired) return;
    const before = fruitless.current;
    const pages = before.count === count ? before.pages : 0;
    if (pages >= FRUITLESS_MAX) return setTired(true);
    onOlder();
    fruitless.current = { count, pages: pages + 1 };
  }, [count, isNear, isTired, onOlder]);
  return {
    isTired,
    goOn() {
      fruitless.current = { count, pages: 0 };
      setTired(false);
    },
  };
}

/** Anchors the topmost visible run after scrolling down, however many new runs are added above it. */
function useKeptPlace(box: { current: HTMLDivElement | null }, rows: RunRow[], rowPx: number) {
  const before = useRef(rows);
  useLayoutEffect(() => {
    const list = box.current;
    const earlier = before.current;
    before.current = rows;
    if (!list || earlier === rows || list.scrollTop < rowPx) return;
    const place = Math.floor(list.scrollTop / rowPx);
    const key = earlier[place]?.key;
    const now = rows.findIndex((row) => row.key === key);
    if (now >= 0 && now !== place) list.scrollTop += (now - place) * rowPx;
  }, [box, rows, rowPx]);
}
