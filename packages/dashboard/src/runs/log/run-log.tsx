import { Box, Stack } from '@mantine/core';
import { useDeferredValue, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { useSearchParams } from 'react-router';
import { getLineIdParam } from '../../shell/paths';
import { downloadFile } from '../../ui/download-file';
import { createLineFilter, findInsertionIndex } from './line-filter';
import { formatFields, formatLogLine, LEVELS, type Level, type LogLine } from './log-line';
import { LogRows, type LogRowsHandle } from './log-rows';
import type { LogStore } from './log-store';
import { LogToolbar, type LogView } from './log-toolbar';
import styles from './run-log.module.css';

interface RunLogProps {
  store: LogStore;
  /** Offsets are shown from here. */
  startedAt: number | null;
  /** Shown while there is no line. */
  empty: string;
  /** Name of the file that the log is saved as, without its extension. */
  name: string;
  /** Set where the log is the main content of the page. */
  tall?: boolean;
}

/** Follows the last line until the reader scrolls up; scrolling back down follows again. */
export function RunLog({ store, startedAt, empty, name, tall = false }: RunLogProps) {
  useSyncExternalStore(store.subscribe, store.version);
  const [search] = useSearchParams();
  const selectedId = getLineIdParam(search);
  const rows = useRef<LogRowsHandle>(null);
  const searchField = useRef<HTMLInputElement>(null);
  const [following, setFollowing] = useState(selectedId === null);
  const [view, setView] = useState<LogView>({ level: 'debug', clock: 'elapsed', wrap: true });
  const { level, clock, wrap } = view;
  const [text, setText] = useState('');
  const query = useDeferredValue(text.toLowerCase());
  const [hitPlace, setHitPlace] = useState<number | null>(null);

  const selectShown = useMemo(() => createLineFilter((line) => isAtLeast(line, level)), [level]);
  const selectHits = useMemo(
    () => createLineFilter((line) => query !== '' && isAtLeast(line, level) && matchesQuery(line, query)),
    [level, query],
  );
  const shown = selectShown(store);
  const hits = selectHits(store);
  const hit = hitPlace === null ? null : (hits[hitPlace] ?? null);

  function goToPosition(position: number) {
    setFollowing(false);
    rows.current?.scrollTo(findInsertionIndex(shown, position));
  }

  /** Moves to the next hit and wraps around. The first search begins at the first hit. */
  function goToHit(step: 1 | -1) {
    if (hits.length === 0) return;
    const next = hitPlace === null ? (step === 1 ? 0 : hits.length - 1) : (hitPlace + step + hits.length) % hits.length;
    setHitPlace(next);
    goToPosition(hits[next] ?? 0);
  }

  // The line that the address names, as soon as it is rendered: the store may already have more lines than that.
  const scrolledTo = useRef<string | null>(null);
  const renderedCount = store.lines.length;
  // biome-ignore lint/correctness/useExhaustiveDependencies: it may come with any new line.
  useEffect(() => {
    if (selectedId === null || scrolledTo.current === selectedId) return;
    const position = store.lines.findIndex(({ id }) => id === selectedId);
    if (position < 0 || position >= renderedCount) return;
    // Only the first selection needs scrolling: a later one comes from a click on a line's number, which is in view.
    if (scrolledTo.current === null) goToPosition(position);
    scrolledTo.current = selectedId;
  }, [selectedId, renderedCount]);
  useEffect(() => {
    if (store.lines.length === 0 && selectedId === null) setFollowing(true);
  }, [store.lines.length, selectedId]);

  return (
    <Stack
      gap="xs"
      onKeyDown={(event) => {
        if (event.key !== 'f' || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        searchField.current?.focus();
      }}
    >
      {store.lines.length > 0 && (
        <LogToolbar
          searchField={searchField}
          text={text}
          onText={(value) => {
            setText(value);
            setHitPlace(null);
          }}
          hits={hits.length}
          hitPlace={hitPlace}
          onHit={goToHit}
          view={view}
          onView={setView}
          onSave={() => downloadLog(name, store)}
        />
      )}
      <Box pos="relative">
        <LogRows
          key={level}
          handle={rows}
          empty={store.lines.length === 0 ? empty : 'No log lines at this level.'}
          store={store}
          shown={shown}
          query={query}
          clock={clock}
          wrap={wrap}
          tall={tall}
          following={following}
          startedAt={startedAt}
          selectedId={selectedId}
          hit={hit}
          onFollowing={setFollowing}
        />
        {!following && shown.length > 0 && (
          <button type="button" className={styles.follow} onClick={() => setFollowing(true)}>
            Follow log
          </button>
        )}
      </Box>
    </Stack>
  );
}

const isAtLeast = (line: LogLine, level: Level): boolean => LEVELS.indexOf(line.level) >= LEVELS.indexOf(level);

/** @param query in lower case */
const matchesQuery = ({ plain, fields }: LogLine, query: string): boolean =>
  plain.toLowerCase().includes(query) || (fields !== null && formatFields(fields).toLowerCase().includes(query));

const downloadLog = (name: string, { lines }: LogStore): void =>
  downloadFile(
    `${name}.log`,
    new Blob([lines.map((line) => `${formatLogLine(line)}\n`).join('')], { type: 'text/plain' }),
  );
