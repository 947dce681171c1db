import { Box, Button, Center, Text } from '@mantine/core';
import { Link } from 'react-router';
import { VERDICT_LOOKS, type Verdict } from '../../rehearsals/verdict-badge';
import type { EvaluationTable } from '../../shell/api';
import { evaluationPath } from '../../shell/paths';
import { Timestamp } from '../../ui/timestamp';
import styles from './version-table.module.css';

interface VersionTableProps {
  workerId: string;
  table: EvaluationTable;
  /** Sha of the current version. */
  current: string;
  /** Absent: not permitted. */
  onEvaluate: ((sha: string) => void) | undefined;
}

type Version = EvaluationTable['versions'][number];

/** Shows examples as rows and versions as columns, newest first; each cell links to its result. */
export function VersionTable({ workerId, table, current, onEvaluate }: VersionTableProps) {
  const { examples, cells } = table;
  // Among versions without an evaluation, only the current one gets a column, to start one.
  const versions = table.versions.filter(({ evaluation_id: id, sha }) => id !== null || sha === current);
  return (
    // Positioned because it contains visually hidden text as well, which would widen the page.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section style={{ position: 'relative', overflowX: 'auto' }} aria-label="Versions" tabIndex={0}>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col" className={styles.corner}>
              Example
            </th>
            {versions.map((version) => (
              <th
                key={version.sha}
                scope="col"
                className={styles.head}
                data-current={version.sha === current || undefined}
              >
                <VersionHeader
                  workerId={workerId}
                  version={version}
                  isCurrent={version.sha === current}
                  onEvaluate={onEvaluate}
                />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {examples.map(({ id, name, exists }) => (
            <tr key={id}>
              <th scope="row" className={styles.name}>
                <span>{name}</span>
                {!exists && (
                  <Text span className="nowrap" fz="xs" fw={400} c="dimmed">
                    {' '}
                    deleted
                  </Text>
                )}
              </th>
              {versions.map((version) => (
                <td key={version.sha} className={styles.cellBox} data-current={version.sha === current || undefined}>
                  <ResultCell
                    workerId={workerId}
                    version={version}
                    exampleId={id}
                    name={name}
                    status={cells[id]?.[version.sha]?.status}
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface VersionHeaderProps {
  workerId: string;
  version: Version;
  isCurrent: boolean;
  onEvaluate: ((sha: string) => void) | undefined;
}

function VersionHeader({ workerId, version, isCurrent, onEvaluate }: VersionHeaderProps) {
  const { sha, version: number, evaluation_id: id, totals, status, created_at: createdAt } = version;
  return (
    <div className={styles.version}>
      <Text span fw={640}>
        {id === null ? `v${number}` : <Link to={evaluationPath(workerId, id)}>v{number}</Link>}
        {isCurrent && <span className="visually-hidden">, current version</span>}
      </Text>
      {totals ? (
        <Box
          component="span"
          className="tabular-nums"
          p="0 8px"
          bdrs={4}
          fw={640}
          c="var(--tone)"
          bg="var(--tone-wash)"
          data-tone={getTotalsTone(totals)}
        >
          {totals.passed}/{totals.total}
          <span className="visually-hidden"> passed</span>
        </Box>
      ) : (
        onEvaluate && (
          <Button
            size="compact-xs"
            variant="default"
            aria-label={`Evaluate version ${number}`}
            onClick={() => onEvaluate(sha)}
          >
            Evaluate
          </Button>
        )
      )}
      <Text span className="nowrap" fz="xs" fw={400} c="dimmed">
        {status === 'running' ? 'running' : status === 'stopped' ? 'stopped' : <Timestamp at={Date.parse(createdAt)} />}
      </Text>
    </div>
  );
}

function getTotalsTone({ passed, failed, error, total }: NonNullable<Version['totals']>): string {
  if (failed > 0) return 'error';
  return error > 0 || passed < total ? 'timeout' : 'success';
}

interface ResultCellProps {
  workerId: string;
  version: Version;
  exampleId: string;
  name: string;
  status: Verdict | undefined;
}

function ResultCell({ workerId, version, exampleId, name, status }: ResultCellProps) {
  if (status === undefined || version.evaluation_id === null) {
    return (
      <Center component="span" h="2.25rem" miw="2.75rem" bdrs={6} c="dimmed">
        <span aria-hidden="true">·</span>
        <span className="visually-hidden">Not run</span>
      </Center>
    );
  }
  const { tone, word, icon } = VERDICT_LOOKS[status];
  return (
    <Link
      className={styles.cell}
      data-tone={tone}
      to={evaluationPath(workerId, version.evaluation_id, exampleId)}
      aria-label={`${name}, version ${version.version}: ${word}`}
      title={word}
    >
      {icon}
    </Link>
  );
}
