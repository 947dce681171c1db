import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { ResultsTable } from '../rehearsals/results-table';
import { getRunStatusDisplay } from '../runs/run-status';
import type { CandidateCase } from '../shell/api';
import { workerRunPath } from '../shell/paths';
import { formatDuration } from '../ui/format';
import styles from './candidate-evidence.module.css';
import { CaseDetail } from './case-detail';

interface CandidateEvidenceProps {
  cases: CandidateCase[];
  /** The run that a repair is about. */
  failedRunId?: string | undefined;
}

/** Shows each recorded run beside its rehearsal; differences expand below it. */
export function CandidateEvidence({ cases, failedRunId }: CandidateEvidenceProps) {
  const names = labelRuns(cases, failedRunId);
  const getName = ({ run_id: id }: CandidateCase) => names.get(id) ?? 'Run';
  return (
    <ResultsTable
      label="Evidence"
      rows={cases}
      getKey={({ run_id: id }) => id}
      name={{
        head: 'Recorded run',
        cell: (one) => <RunName runId={one.run_id} name={getName(one)} />,
        getText: (one) => getName(one).toLowerCase(),
      }}
      verdict={{ head: 'Outcome', get: ({ outcome }) => outcome ?? 'rehearsing' }}
      columns={[
        {
          head: 'Recorded',
          isLabelled: true,
          className: styles.outcome,
          cell: ({ recorded }) => <RunOutcome end={recorded} />,
        },
        {
          head: 'Rehearsed',
          isLabelled: true,
          className: styles.outcome,
          cell: ({ rehearsed, outcome }) => <RunOutcome end={rehearsed} isSame={outcome === 'same'} />,
        },
      ]}
      renderDetail={(one) => one.outcome !== null && <CaseDetail candidateCase={one} />}
    />
  );
}

const RunName = ({ runId, name }: { runId: string; name: string }) => (
  <>
    <Link to={workerRunPath(runId)}>{name}</Link>
    <Text span display="block" ff="monospace" fz="xs" c="dimmed">
      {runId}
    </Text>
  </>
);

/** Runs have no names, so the others are numbered. */
function labelRuns(cases: CandidateCase[], failedRunId: string | undefined): ReadonlyMap<string, string> {
  const others = cases.filter(({ run_id: id }) => id !== failedRunId);
  const names = new Map(others.map(({ run_id: id }, at) => [id, `Run ${at + 1}`]));
  return failedRunId === undefined ? names : names.set(failedRunId, 'Failed run');
}

type RunEnd = CandidateCase['recorded'] | CandidateCase['rehearsed'];

/** Shows the end of a run on two lines: its status, and the beginning of its error or output. */
function RunOutcome({ end, isSame }: { end: RunEnd; isSame?: boolean }): ReactNode {
  if (end === null)
    return (
      <Text span c="dimmed">
        …
      </Text>
    );
  const { status, error, error_code: code, output } = end;
  const { tone, word } = getRunStatusDisplay({ status, error: code === null ? undefined : { code } });
  const took = 'duration_ms' in end ? end.duration_ms : null;
  if (isSame) {
    return (
      <Text span c="dimmed">
        Same result{took !== null && took !== undefined && ` in ${formatDuration(took)}`}
      </Text>
    );
  }
  return (
    <>
      <Text span fw={600} c="var(--tone)" data-tone={tone}>
        {word}
        {took !== null && took !== undefined && (
          <Text span fw={400} c="dimmed">
            {' '}
            in {formatDuration(took)}
          </Text>
        )}
      </Text>
      {(error ?? output) && (
        <Text component="code" display="block" ff="monospace" fz="xs" c="dimmed" truncate>
          {error ?? output}
        </Text>
      )}
    </>
  );
}
