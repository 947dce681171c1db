import { Box, Group, Stack, Text } from '@mantine/core';
import { Link } from 'react-router';
import type { CandidateCase } from '../shell/api';
import { workerRunPath } from '../shell/paths';
import { DataTable } from '../ui/data-table';
import type { Column } from '../ui/table-model';

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
      {differences.length > 0 && (
        <DataTable
          label="Differences"
          stacks
          columns={DIFFERENCE_COLUMNS}
          rows={differences}
          getKey={({ path }) => path}
        />
      )}
      {outcome === 'same' && <Text c="dimmed">Both runs returned the same output.</Text>}
      {(rehearsal || base) && (
        <Group component="p" gap="4px 16px" align="stretch">
          {rehearsal && <Link to={workerRunPath(rehearsal)}>Candidate rehearsal</Link>}
          {base && <Link to={workerRunPath(base)}>Previous version rehearsal</Link>}
        </Group>
      )}
    </Stack>
  );
}

const DIFFERENCE_COLUMNS: Column<Difference>[] = [
  {
    head: 'Output field',
    cell: ({ path }) => (path ? <code className="wrap-anywhere">{path}</code> : 'Entire output'),
  },
  { head: 'Before', isLabelled: true, cell: ({ was }) => <DifferenceValue value={was} tone="error" /> },
  { head: 'After', isLabelled: true, cell: ({ now }) => <DifferenceValue value={now} tone="success" /> },
];

function DifferenceValue({ value, tone }: { value: string | null; tone: 'error' | 'success' }) {
  if (value === null) {
    return (
      <Text span c="dimmed">
        None
      </Text>
    );
  }
  return (
    <Text
      component="code"
      className="pre-wrap wrap-anywhere"
      px={4}
      bdrs={4}
      fz="xs"
      c={`var(--${tone})`}
      bg={`var(--${tone}-wash)`}
    >
      {value}
    </Text>
  );
}
