import { Box, Text } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type Ref, useEffect, useImperativeHandle, useLayoutEffect, useRef } from 'react';
import { Link, useSearchParams } from 'react-router';
import { buildLineSearch } from '../../shell/paths';
import { formatAbsoluteTime } from '../../ui/format';
import { HighlightedText } from './highlighted-text';
import { formatFields, type LogLine } from './log-line';
import styles from './log-rows.module.css';
import type { LogStore } from './log-store';

/** Estimated height of a row until it is rendered and measured; equal to the style sheet's. */
const ROW_PX = 21;
const OVERSCAN = 20;
/** This close to the end counts as reading along. */
const NEAR_END_PX = 24;

export type Clock = 'elapsed' | 'time';

export interface LogRowsHandle {
  /** @param place among the shown lines */
  scrollTo: (place: number) => void;
}

interface LogRowsProps {
  store: LogStore;
  /** Positions of the lines that are shown. */
  shown: readonly number[];
  query: string;
  clock: Clock;
  wrap: boolean;
  tall: boolean;
  following: boolean;
  onFollowing: (following: boolean) => void;
  startedAt: number | null;
  /** Line that the address names. */
  selectedId: string | null;
  /** Position of the hit that was gone to. */
  hit: number | null;
  /** Shown while there is no line. */
  empty: string;
  handle: Ref<LogRowsHandle>;
}

const isNearEnd = ({ scrollHeight, scrollTop, clientHeight }: HTMLElement) =>
  scrollHeight - scrollTop - clientHeight < NEAR_END_PX;

/** Renders only the rows in view. */
export function LogRows(props: LogRowsProps) {
  const { store, shown, wrap, following, onFollowing, handle, empty } = props;
  const [search] = useSearchParams();
  const box = useRef<HTMLDivElement>(null);
  const lastScroll = useRef({ top: 0, height: 0 });
  // A jump to a line, perhaps the last that has come so far, does not mean following the end.
  const wasScrolledByCode = useRef(false);
  const handleUserScroll = () => {
    wasScrolledByCode.current = false;
  };
  const rows = useVirtualizer({
    count: shown.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    getItemKey: (place) => store.lines[shown[place] ?? 0]?.id ?? place,
    overscan: OVERSCAN,
    useFlushSync: false,
  });
  const height = rows.getTotalSize();
  const drawn = rows.getVirtualItems();

  // biome-ignore lint/correctness/useExhaustiveDependencies: every new line and measured row moves the end.
  useLayoutEffect(() => {
    if (!following || !box.current) return;
    wasScrolledByCode.current = false;
    box.current.scrollTop = box.current.scrollHeight;
  }, [shown.length, height, following]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows have other heights then.
  useEffect(() => rows.measure(), [wrap]);
  useImperativeHandle(
    handle,
    () => ({
      scrollTo(place) {
        wasScrolledByCode.current = true;
        rows.scrollToIndex(place, { align: 'center' });
      },
    }),
    [rows],
  );

  return (
    <div
      ref={box}
      className={styles.log}
      data-tall={props.tall || undefined}
      role="log"
      aria-label="Log"
      // Rows that scroll into view are not announced.
      aria-live={following ? 'polite' : 'off'}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
      tabIndex={0}
      onWheel={handleUserScroll}
      onPointerDown={handleUserScroll}
      onKeyDown={handleUserScroll}
      onScroll={({ currentTarget: log }) => {
        const { scrollTop, scrollHeight } = log;
        // A row is measured when it comes into view: then the end moves without scrolling.
        const movedUp = scrollTop < lastScroll.current.top && scrollHeight >= lastScroll.current.height;
        lastScroll.current = { top: scrollTop, height: scrollHeight };
        if (movedUp) onFollowing(false);
        else if (isNearEnd(log) && !wasScrolledByCode.current) onFollowing(true);
        else if (following) log.scrollTop = scrollHeight;
      }}
    >
      {shown.length === 0 && (
        <Text px="sm" c="dimmed">
          {empty}
        </Text>
      )}
      {store.dropped() > 0 && (
        <Text px="sm" c="dimmed">
          {store.dropped()} earlier lines aren’t shown.
        </Text>
      )}
      <Box pos="relative" style={{ height }}>
        <div
          className={styles.drawn}
          data-wrap={wrap || undefined}
          style={{ transform: `translateY(${drawn[0]?.start ?? 0}px)` }}
        >
          {drawn.map(({ index, key }) => {
            const position = shown[index] ?? 0;
            const line = store.lines[position];
            return (
              line && (
                <div
                  key={key as string}
                  ref={rows.measureElement}
                  data-index={index}
                  className={styles.line}
                  data-level={line.level}
                  data-selected={line.id === props.selectedId || undefined}
                  data-hit={position === props.hit || undefined}
                >
                  <Link
                    className={`${styles.number} hidden-narrow`}
                    to={buildLineSearch(search, line.id)}
                    replace
                    preventScrollReset
                    tabIndex={-1}
                    aria-label={`Link to line ${store.dropped() + position + 1}`}
                  >
                    {store.dropped() + position + 1}
                  </Link>
                  <LineText line={line} query={props.query} clock={props.clock} startedAt={props.startedAt} />
                </div>
              )
            );
          })}
        </div>
      </Box>
    </div>
  );
}

interface LineTextProps extends Pick<LogRowsProps, 'query' | 'clock' | 'startedAt'> {
  line: LogLine;
}

const LineText = ({ line, query, clock, startedAt }: LineTextProps) => (
  <>
    {line.at !== null && (
      <span className={styles.at} aria-hidden="true" title={formatAbsoluteTime(line.at)}>
        {clock === 'time' ? formatTimeOfDay(line.at) : formatOffset(line.at, startedAt)}
      </span>
    )}
    <span className={styles.text}>
      {(line.level === 'warning' || line.level === 'error') && <span className={styles.level}>{line.level} </span>}
      <HighlightedText text={line.text} query={query} />
      {line.fields && (
        <span className={styles.fields}>
          {' '}
          <HighlightedText text={formatFields(line.fields)} query={query} />
        </span>
      )}
    </span>
  </>
);

const clockFormat = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hour12: false,
});

const formatTimeOfDay = (at: number): string => clockFormat.format(at);

const formatOffset = (at: number, from: number | null): string =>
  `${(Math.max(0, at - (from ?? at)) / 1_000).toFixed(2).padStart(6)}`;
