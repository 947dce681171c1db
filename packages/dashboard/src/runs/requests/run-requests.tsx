import { Button, Checkbox, Group, Stack, Text } from '@mantine/core';
import { useState, useSyncExternalStore } from 'react';
import table from '../../ui/data-table.module.css';
import { formatDuration, formatFileSize, formatNumber } from '../../ui/format';
import { CrossIcon, StopIcon } from '../../ui/icons';
import { StatusChip } from '../../ui/status-chip';
import { REQUESTS_PER_ATTEMPT_MAX, type RequestStore, type RequestSums } from './request-store';
import { type RunRequest, requestHost } from './run-request';
import styles from './run-requests.module.css';

interface RunRequestsProps {
  store: RequestStore;
  /** Offsets are shown from here. */
  startedAt: number | null;
  /** Shown while there is none. */
  empty: string;
}

/** Rows shown at first and added by each press of the button. */
const ROWS_PER_PAGE = 50;

/** Lists the requests of a run's code to other hosts, in the order in which they ended. */
export function RunRequests({ store, startedAt, empty }: RunRequestsProps) {
  useSyncExternalStore(store.subscribe, store.version);
  const [onlyProblems, setOnlyProblems] = useState(false);
  const [rows, setRows] = useState(ROWS_PER_PAGE);
  const { requests } = store;
  if (requests.length === 0)
    return (
      <Text fz="sm" c="dimmed">
        {empty}
      </Text>
    );
  const sums = store.sums();
  const hasProblems = sums.refused + sums.failed > 0;
  const shown = onlyProblems && hasProblems ? requests.filter(({ problem }) => problem !== null) : requests;
  const hasRetries = requests.at(-1)?.attempt !== requests[0]?.attempt;
  return (
    <Stack gap="sm" align="flex-start">
      <Group gap="8px 16px" justify="space-between" w="100%">
        <Text fz="sm" c="dimmed">
          {formatSummary(sums)}
        </Text>
        {hasProblems && (
          <Checkbox
            size="xs"
            label="Only refused and failed"
            checked={onlyProblems}
            onChange={(event) => setOnlyProblems(event.currentTarget.checked)}
          />
        )}
      </Group>
      <table className={`${table.table} ${styles.table}`}>
        <thead>
          <tr>
            <th className={styles.what}>Request</th>
            <th>Response</th>
            <th className={`${table.number} ${styles.wide}`}>Received</th>
            <th className={`${table.number} ${styles.wide}`}>Started</th>
          </tr>
        </thead>
        <tbody>
          {shown.slice(0, rows).map((request) => (
            <Row key={request.id} request={request} startedAt={startedAt} hasRetries={hasRetries} />
          ))}
        </tbody>
      </table>
      {shown.length > rows && (
        <Button variant="default" onClick={() => setRows(rows + ROWS_PER_PAGE)}>
          Show {formatNumber(Math.min(ROWS_PER_PAGE, shown.length - rows))} more of {formatNumber(shown.length)}
        </Button>
      )}
      {sums.isCut && (
        <Text fz="sm" c="dimmed">
          The first {formatNumber(REQUESTS_PER_ATTEMPT_MAX)} requests of an attempt are kept. There may have been more.
        </Text>
      )}
    </Stack>
  );
}

interface RowProps {
  request: RunRequest;
  startedAt: number | null;
  /** Whether the run has more than one attempt. */
  hasRetries: boolean;
}

function Row({ request, startedAt, hasRetries }: RowProps) {
  const { attempt, endedAt, durationMs, method, path, credentials, echoed, problem } = request;
  const began = endedAt !== null && startedAt !== null && `+${formatDuration(endedAt - durationMs - startedAt)}`;
  const received = formatFileSize(request.bytesReceived);
  const sent = `${formatFileSize(request.bytesSent)} sent`;
  const took = `took ${formatDuration(durationMs)}`;
  return (
    <tr>
      <td>
        <span className="small-code">
          <Text span c="dimmed">
            {method ?? 'Connection to'}
          </Text>{' '}
          <Text span fw={600}>
            {requestHost(request)}
          </Text>
          {path}
        </span>
        {problem && <span className={styles.more}>{describeProblem(request, problem)}</span>}
        {credentials.length > 0 && <span className={styles.more}>with {credentials.join(', ')}</span>}
        {echoed > 0 && <span className={styles.more}>{describeEchoes(echoed)}</span>}
        {hasRetries && <span className={styles.more}>attempt {attempt}</span>}
        <span className={`${styles.more} ${styles.narrow}`}>
          {[began, took, sent, `${received} received`].filter(Boolean).join(', ')}
        </span>
      </td>
      <td>
        <ResponseStatus request={request} />
      </td>
      <td className={`${table.number} ${styles.wide}`}>
        {received}
        <span className={styles.more}>{sent}</span>
      </td>
      <td className={`${table.number} ${styles.wide}`}>
        {began}
        <span className={styles.more}>{took}</span>
      </td>
    </tr>
  );
}

/** Statuses from here on are errors. */
const ERROR_STATUS = 400;

function ResponseStatus({ request: { status, problem } }: { request: RunRequest }) {
  if (problem?.kind === 'refused') {
    return (
      <StatusChip tone="timeout" icon={<StopIcon />}>
        Refused
      </StatusChip>
    );
  }
  if (problem) {
    return (
      <StatusChip tone="error" icon={<CrossIcon />}>
        Failed
      </StatusChip>
    );
  }
  if (status === null)
    return (
      <Text span fz="sm" c="dimmed">
        Not seen
      </Text>
    );
  return (
    <span className={styles.status} data-error={status >= ERROR_STATUS || undefined}>
      {status}
    </span>
  );
}

/** Describes the problem in the executor's words. */
function describeProblem({ status }: RunRequest, { message }: NonNullable<RunRequest['problem']>): string {
  const said = `${message.charAt(0).toUpperCase()}${message.slice(1)}`;
  return status === null ? said : `${said}, after the response ${status}`;
}

/** Many echoes may be attempts to guess a value. */
const describeEchoes = (times: number): string =>
  `the value of a credential came back ${times === 1 ? 'once' : `${formatNumber(times)} times`}, and was replaced`;

function formatSummary({ count, hosts, refused, failed, bytesSent, bytesReceived, echoed }: RequestSums): string {
  const problems = [refused > 0 && `${formatNumber(refused)} refused`, failed > 0 && `${formatNumber(failed)} failed`];
  return [
    `${formatNumber(count)} ${count === 1 ? 'request' : 'requests'} to ${formatNumber(hosts)} ${hosts === 1 ? 'host' : 'hosts'}`,
    ...problems,
    `${formatFileSize(bytesSent)} sent`,
    `${formatFileSize(bytesReceived)} received`,
    echoed > 0 && describeEchoes(echoed),
  ]
    .filter(Boolean)
    .join(', ');
}
