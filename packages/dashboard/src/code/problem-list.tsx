import { Box, Text } from '@mantine/core';
import { upperFirst } from '@mantine/hooks';
import type { CodeProblem } from './code-problem';
import styles from './problem-list.module.css';

const toSentence = (text: string): string => `${upperFirst(text)}${/[.!?]$/.test(text) ? '' : '.'}`;

interface ProblemListProps {
  problems: CodeProblem[];
  /** The text has changed since the problems were found. */
  isStale: boolean;
  /** Receives the place of the chosen problem. */
  onSelect: (place: { line: number; column?: number }) => void;
}

const SEVERITY_LABELS = { error: 'Error', warning: 'Warning', info: 'Note' };
const TONES = { error: 'error', warning: 'timeout', info: 'info' };

/** Lists the problems of a file, below its editor. */
export function ProblemList({ problems, isStale, onSelect }: ProblemListProps) {
  if (problems.length === 0) {
    return (
      <Text fz="xs" c="dimmed" role="status">
        {isStale ? 'Checking for problems…' : 'No problems found.'}
      </Text>
    );
  }
  return (
    <Box component="ul" className="divided surface" bdrs={6} style={{ overflow: 'hidden' }} aria-label="Problems">
      {problems.map(({ line, column, severity, message, hint }) => (
        <li key={`${line} ${column} ${message}`}>
          <button
            type="button"
            className={styles.problem}
            data-tone={TONES[severity]}
            onClick={() => onSelect({ line, ...(column !== undefined && { column }) })}
          >
            <Text span fw={600} c="var(--tone)">
              {SEVERITY_LABELS[severity]}
            </Text>
            <span>
              {toSentence(message)}
              {hint && <Text span c="dimmed">{` ${toSentence(hint)}`}</Text>}
            </span>
            <Text span className="nowrap" c="dimmed">
              Line {line}
            </Text>
          </button>
        </li>
      ))}
    </Box>
  );
}
