import { Box, Group, Stack, Text } from '@mantine/core';
import { Link } from 'react-router';
import type { CandidateCase } from '../shell/api';
import { workerRunPath } from '../shell/paths';
import styles from './evidence.module.css';

type Difference = CandidateCase['differences'][number];

/** Shows a case's differences, or the reason why there are none to compare, and links to its runs. */
export function CaseDetail({ candidateCase }: { candidateCase: CandidateCase }) {
  const {
    differences,
    reason,
    outcome,
    rehearsed,
    rehearsal_run_id: rehearsal,
    base_rehearsal_run_id: base,
  } = candidateCase;
  const error = outcome === 'broken' || outcome === 'still_failing' ? rehearsed?.error : null;
  return (
    <Stack
      gap="sm"
      p="12px 16px"
      bdrs="0 6px 6px 0"
      bg="var(--sunken)"
      style={{ borderInlineStart: '3px solid var(--line)' }}
    >
      {reason && <Text className="wrap-anywhere">{reason}</Text>}
      {error && (
        <Box
          component="pre"
          className="pre-wrap wrap-anywhere"
          mah="12rem"
          fz="xs"
          c="var(--error)"
          style={{ overflow: 'auto' }}
        >
          {error}
        </Box>
      )}
      {differences.length > 0 && <Differences differences={differences} />}
      {outcome === 'same' && <Text c="dimmed">Both returned the same output.</Text>}
      {(rehearsal || base) && (
        <Group component="p" gap="4px 16px" align="stretch">
          {rehearsal && <Link to={workerRunPath(rehearsal)}>Rehearsal of the candidate</Link>}
          {base && <Link to={workerRunPath(base)}>Rehearsal of the previous version</Link>}
        </Group>
      )}
    </Stack>
  );
}

function Differences({ differences }: { differences: Difference[] }) {
  return (
    <table className={styles.differences}>
      <thead>
        <tr>
          <th scope="col">In the output</th>
          <th scope="col">Was</th>
          <th scope="col">Now</th>
        </tr>
      </thead>
      <tbody>
        {differences.map(({ path, was, now }) => (
          <tr key={path}>
            <th scope="row">{path ? <code>{path}</code> : 'Whole output'}</th>
            <td data-label="Was">{was === null ? <AbsentValue /> : <code data-side="was">{was}</code>}</td>
            <td data-label="Now">{now === null ? <AbsentValue /> : <code data-side="now">{now}</code>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const AbsentValue = () => (
  <Text span c="dimmed">
    None
  </Text>
);
