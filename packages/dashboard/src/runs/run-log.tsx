import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { LogLine } from './live-run';
import styles from './run-log.module.css';

interface RunLogProps {
  lines: LogLine[];
  dropped: number;
  /** Offsets are shown from here. */
  startedAt: number | null;
  /** Shown while there is no line. */
  empty: string;
}

/** This close to the end counts as reading along. */
const NEAR_END_PX = 24;

const isNearEnd = ({ scrollHeight, scrollTop, clientHeight }: HTMLElement) =>
  scrollHeight - scrollTop - clientHeight < NEAR_END_PX;

/** Follows the last line until somebody scrolls up to read; scrolling back down follows again. */
export function RunLog({ lines, dropped, startedAt, empty }: RunLogProps) {
  const box = useRef<HTMLDivElement>(null);
  const top = useRef(0);
  const [following, setFollowing] = useState(true);

  // biome-ignore lint/correctness/useExhaustiveDependencies: every new line moves the end.
  useLayoutEffect(() => {
    if (following && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines, following]);
  useEffect(() => {
    if (lines.length === 0) setFollowing(true);
  }, [lines.length]);

  return (
    <div className={styles.frame}>
      <div
        ref={box}
        className={styles.log}
        role="log"
        aria-label="Log"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
        tabIndex={0}
        onScroll={({ currentTarget: log }) => {
          const movedUp = log.scrollTop < top.current;
          top.current = log.scrollTop;
          // A line is measured when it comes into view: then the end moves on although nobody scrolled away from it.
          if (following && !movedUp && !isNearEnd(log)) log.scrollTop = log.scrollHeight;
          else setFollowing(isNearEnd(log));
        }}
      >
        {lines.length === 0 && <p className={styles.empty}>{empty}</p>}
        {dropped > 0 && <p className={styles.empty}>{dropped} earlier lines are not shown.</p>}
        {lines.map((line) => (
          <div key={line.id} className={styles.line} data-level={line.level}>
            {line.at !== null && (
              <span className={styles.at} aria-hidden="true">
                {offset(line.at, startedAt)}
              </span>
            )}
            <span className={styles.text}>
              {(line.level === 'warning' || line.level === 'error') && (
                <span className={styles.level}>{line.level} </span>
              )}
              {line.text}
              {line.fields && <span className={styles.fields}>{inWords(line.fields)}</span>}
            </span>
          </div>
        ))}
      </div>
      {!following && (
        <button type="button" className={styles.follow} onClick={() => setFollowing(true)}>
          Follow the end
        </button>
      )}
    </div>
  );
}

const inWords = (fields: Record<string, unknown>): string =>
  Object.entries(fields)
    .map(([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('');

const offset = (at: number, from: number | null): string =>
  `${(Math.max(0, at - (from ?? at)) / 1_000).toFixed(2).padStart(6)}`;
