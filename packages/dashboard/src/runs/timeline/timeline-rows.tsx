import { Box, Group, Stack, Text } from '@mantine/core';
import { type ReactNode, useId, useState } from 'react';
import { formatDuration } from '../../ui/format';
import { DownIcon, RightIcon } from '../../ui/icons';
import { type Span, toPercent } from './axis';
import type { KindEntry } from './entry';
import styles from './timeline.module.css';

/** Indents of the names, by the depth of their entry. */
const INDENTS = [0, 'md', 'xl', 'var(--space-7)'];

export interface TimelineRowsProps {
  entries: KindEntry[];
  span: Span;
  now: number;
  /** 0; one more in a run that was called. */
  depth: number;
  renderCalledRun?: ((runId: string, depth: number) => ReactNode) | undefined;
}

export const TimelineRows = ({ entries, ...shared }: TimelineRowsProps) =>
  entries.map((entry) => <TimelineRow key={entry.id} entry={entry} {...shared} />);

interface TimelineRowProps extends Omit<TimelineRowsProps, 'entries'> {
  entry: KindEntry;
}

function TimelineRow({ entry, span, now, depth, renderCalledRun }: TimelineRowProps) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const { kind, name, tone, word, from, to, detail, calledRunId } = entry;
  const isPoint = to === from;
  const opens = detail !== undefined || (calledRunId !== undefined && renderCalledRun !== undefined);
  const took = isPoint ? `at ${formatDuration(from - span.from)}` : formatDuration((to ?? now) - from);
  const head = (
    <>
      <span className="visually-hidden">{`${kind.word}: ${name}, ${word}, ${took}`}</span>
      <Group
        component="span"
        gap={4}
        wrap="nowrap"
        miw={0}
        pl={INDENTS[Math.min(depth, INDENTS.length - 1)]}
        aria-hidden="true"
      >
        <Box component="span" display="inline-flex" flex="none" w="1rem" c="dimmed">
          {opens && (open ? <DownIcon /> : <RightIcon />)}
        </Box>
        <Box component="span" display="inline-flex" flex="none" c="var(--tone)" title={kind.word}>
          {kind.icon}
        </Box>
        <Text span truncate title={name}>
          {name}
        </Text>
      </Group>
      <span className={styles.lane} aria-hidden="true">
        <span
          className={styles.bar}
          data-point={isPoint || undefined}
          data-open={to === null || undefined}
          title={word}
          style={{
            left: `${toPercent(span, from)}%`,
            width: isPoint ? undefined : `${toPercent(span, to ?? now) - toPercent(span, from)}%`,
          }}
        />
      </span>
      <Text span className="nowrap" fz="xs" c="dimmed" ta="end" aria-hidden="true">
        {took}
      </Text>
    </>
  );
  return (
    <li data-tone={tone} data-kind={kind.name}>
      {opens ? (
        <button
          type="button"
          className={styles.row}
          aria-expanded={open}
          aria-controls={open ? id : undefined}
          onClick={() => setOpen(!open)}
        >
          {head}
        </button>
      ) : (
        <div className={styles.row}>{head}</div>
      )}
      {open && (
        <div id={id}>
          {detail}
          {calledRunId !== undefined && renderCalledRun && (
            <Stack component="ol" gap={0}>
              {renderCalledRun(calledRunId, depth + 1)}
            </Stack>
          )}
        </div>
      )}
    </li>
  );
}
