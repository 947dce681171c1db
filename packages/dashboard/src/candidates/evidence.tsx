import { Box, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Link } from 'react-router';
import { getStatusLook } from '../runs/run-status';
import type { CandidateCase } from '../shell/api';
import { workerRunPath } from '../shell/paths';
import { formatDuration } from '../ui/format';
import { DownIcon, RightIcon } from '../ui/icons';
import { OutcomeChip } from './candidate-chips';
import { CaseDetail } from './case-detail';
import styles from './evidence.module.css';

interface EvidenceProps {
  cases: CandidateCase[];
  /** The run that a repair is about. */
  failedRunId?: string | undefined;
}

/** Shows each recorded run beside its rehearsal; differences expand below it. */
export function Evidence({ cases, failedRunId }: EvidenceProps) {
  const names = labelRuns(cases, failedRunId);
  return (
    <Box style={{ containerType: 'inline-size' }}>
      <table className={styles.table} aria-label="Evidence">
        <thead className={styles.columns}>
          <tr>
            <th scope="col">Recorded run</th>
            <th scope="col">Outcome</th>
            <th scope="col">Recorded</th>
            <th scope="col">Rehearsed</th>
            <th scope="col">
              <span className="visually-hidden">More</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {cases.map((one) => (
            <EvidenceCase
              key={one.run_id}
              one={one}
              name={names.get(one.run_id) ?? 'Run'}
              // Cases that need review are expanded.
              isOpenByDefault={
                one.outcome === 'different' || one.outcome === 'broken' || one.outcome === 'still_failing'
              }
            />
          ))}
        </tbody>
      </table>
    </Box>
  );
}

/** Runs have no names, so the others are numbered. */
function labelRuns(cases: CandidateCase[], failedRunId: string | undefined): ReadonlyMap<string, string> {
  const others = cases.filter(({ run_id: id }) => id !== failedRunId);
  const names = new Map(others.map(({ run_id: id }, at) => [id, `Run ${at + 1}`]));
  return failedRunId === undefined ? names : names.set(failedRunId, 'The failed run');
}

function EvidenceCase({ one, name, isOpenByDefault }: { one: CandidateCase; name: string; isOpenByDefault: boolean }) {
  const [isToggled, setToggled] = useState<boolean | null>(null);
  const { run_id: runId, outcome, recorded, rehearsed } = one;
  const isOpen = isToggled ?? isOpenByDefault;
  const hasMore = outcome !== null;
  return (
    <>
      <tr className={styles.case} data-outcome={outcome}>
        <th scope="row">
          <Link to={workerRunPath(runId)}>{name}</Link>
          <Text span display="block" ff="monospace" fz="xs" fw={400} c="dimmed" truncate>
            {runId}
          </Text>
        </th>
        <td className={styles.outcome}>
          <OutcomeChip outcome={outcome} />
        </td>
        <td className={styles.end} data-label="Recorded">
          <RunOutcome end={recorded} />
        </td>
        <td className={styles.end} data-label="Rehearsed">
          {outcome === 'same' && rehearsed ? (
            <Text span c="dimmed">
              The same{rehearsed.duration_ms !== null && `, in ${formatDuration(rehearsed.duration_ms)}`}
            </Text>
          ) : (
            <RunOutcome end={rehearsed} />
          )}
        </td>
        <Box component="td" ta="end">
          {hasMore && (
            <button
              type="button"
              className="icon-button"
              aria-expanded={isOpen}
              aria-label={`Details of ${name.toLowerCase()}`}
              onClick={() => setToggled(!isOpen)}
            >
              {isOpen ? <DownIcon /> : <RightIcon />}
            </button>
          )}
        </Box>
      </tr>
      {isOpen && hasMore && (
        <tr className={styles.detail}>
          <td colSpan={5}>
            <CaseDetail candidateCase={one} />
          </td>
        </tr>
      )}
    </>
  );
}

/** Shows the end of a run on two lines: its status, and the beginning of its error or output. */
function RunOutcome({ end }: { end: CandidateCase['recorded'] | CandidateCase['rehearsed'] }): ReactNode {
  if (end === null)
    return (
      <Text span c="dimmed">
        …
      </Text>
    );
  const { status, error, error_code: code, output } = end;
  const { tone, word } = getStatusLook({ status, error: code === null ? undefined : { code } });
  const took = 'duration_ms' in end ? end.duration_ms : null;
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
        <Text component="code" className={styles.words} display="block" ff="monospace" fz="xs" c="dimmed" truncate>
          {error ?? output}
        </Text>
      )}
    </>
  );
}
