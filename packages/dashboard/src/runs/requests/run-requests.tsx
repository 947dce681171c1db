import { Checkbox, Group, Stack, Text } from '@mantine/core';
import { upperFirst } from '@mantine/hooks';
import { useState, useSyncExternalStore } from 'react';
import { bindChecked } from '../../ui/bind';
import { DataTable } from '../../ui/data-table';
import { formatDuration, formatFileSize, formatNumber } from '../../ui/format';
import { CrossIcon, StopIcon } from '../../ui/icons';
import { StatusChip } from '../../ui/status-chip';
import type { Column } from '../../ui/table-model';
import { REQUESTS_PER_ATTEMPT_MAX, type RequestStore, type RequestTotals } from './request-store';
import { formatRequestHost, type RunRequest } from './run-request';
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
  const { requests } = store;
  if (requests.length === 0)
    return (
      <Text fz="sm" c="dimmed">
        {empty}
      </Text>
    );
  const sums = store.sums();
  const hasProblems = sums.refused + sums.failed > 0;
  // A new array each time: the store adds to its own, which the table would take for unchanged.
  const shown = requests.filter(({ problem }) => problem !== null || !onlyProblems || !hasProblems);
  const hasRetries = requests.at(-1)?.attempt !== requests[0]?.attempt;
  const columns: Column<RunRequest>[] = [
    {
      head: 'Request',
      className: styles.what,
      cell: (request) => <RequestCell request={request} startedAt={startedAt} hasRetries={hasRetries} />,
    },
    { head: 'Response', cell: (request) => <ResponseStatus request={request} /> },
    {
      head: 'Received',
      isNumber: true,
      hidesBelow: 'narrow',
      sortBy: ({ bytesReceived }) => bytesReceived,
      cell: ({ bytesReceived, bytesSent }) => (
        <>
          {formatFileSize(bytesReceived)}
          <div className="caption">{formatFileSize(bytesSent)} sent</div>
        </>
      ),
    },
    {
      head: 'Started',
      isNumber: true,
      hidesBelow: 'narrow',
      sortBy: ({ endedAt, durationMs }) => endedAt && endedAt - durationMs,
      cell: (request) => (
        <>
          {formatStart(request, startedAt)}
          <div className="caption">took {formatDuration(request.durationMs)}</div>
        </>
      ),
    },
  ];
  return (
    <Stack gap="sm" align="flex-start">
      <Group gap="8px 16px" justify="space-between" w="100%">
        <Text fz="sm" c="dimmed">
          {formatSummary(sums)}
        </Text>
        {hasProblems && (
          <Checkbox
            size="xs"
            label="Show only blocked and failed requests"
            {...bindChecked(onlyProblems, setOnlyProblems)}
          />
        )}
      </Group>
      <DataTable
        className={styles.table}
        columns={columns}
        rows={shown}
        getKey={({ id }) => id}
        pageSize={ROWS_PER_PAGE}
      />
      {sums.isCut && (
        <Text fz="sm" c="dimmed">
          Only the first {formatNumber(REQUESTS_PER_ATTEMPT_MAX)} requests per attempt are recorded. The run may have
          made more.
        </Text>
      )}
    </Stack>
  );
}

const formatStart = ({ endedAt, durationMs }: RunRequest, startedAt: number | null) =>
  endedAt !== null && startedAt !== null && `+${formatDuration(endedAt - durationMs - startedAt)}`;

interface RequestCellProps {
  request: RunRequest;
  startedAt: number | null;
  /** Whether the run has more than one attempt. */
  hasRetries: boolean;
}

function RequestCell({ request, startedAt, hasRetries }: RequestCellProps) {
  const { attempt, durationMs, method, path, bytesSent, bytesReceived, credentials, echoed, problem } = request;
  const narrowDetails = [
    formatStart(request, startedAt),
    `took ${formatDuration(durationMs)}`,
    `${formatFileSize(bytesSent)} sent`,
    `${formatFileSize(bytesReceived)} received`,
  ];
  return (
    <>
      <span className="small-code">
        <Text span c="dimmed">
          {method ?? 'Connection to'}
        </Text>{' '}
        <Text span fw={600}>
          {formatRequestHost(request)}
        </Text>
        {path}
      </span>
      {problem && <div className="caption">{describeProblem(request, problem)}</div>}
      {credentials.length > 0 && <div className="caption">using {credentials.join(', ')}</div>}
      {echoed > 0 && <div className="caption">{describeEchoes(echoed)}</div>}
      {hasRetries && <div className="caption">attempt {attempt}</div>}
      <div className={`caption ${styles.narrow}`}>{narrowDetails.filter(Boolean).join(', ')}</div>
    </>
  );
}

/** Statuses from here on are errors. */
const ERROR_STATUS = 400;

function ResponseStatus({ request: { status, problem } }: { request: RunRequest }) {
  if (problem?.kind === 'refused') {
    return <StatusChip tone="timeout" icon={<StopIcon />} word="Blocked" />;
  }
  if (problem) {
    return <StatusChip tone="error" icon={<CrossIcon />} word="Failed" />;
  }
  if (status === null)
    return (
      <Text span fz="sm" c="dimmed">
        Unknown
      </Text>
    );
  const isError = status >= ERROR_STATUS;
  return (
    <Text span className="tabular-nums" fw={isError ? 600 : undefined} c={isError ? 'var(--error)' : undefined}>
      {status}
    </Text>
  );
}

/** Describes the problem in the executor's words. */
function describeProblem({ status }: RunRequest, { message }: NonNullable<RunRequest['problem']>): string {
  const said = upperFirst(message);
  return status === null ? said : `${said}, after a ${status} response`;
}

/** Many echoes may be attempts to guess a value. */
const describeEchoes = (times: number): string =>
  `credential value found and masked ${times === 1 ? 'once' : `${formatNumber(times)} times`} in responses`;

function formatSummary({ count, hosts, refused, failed, bytesSent, bytesReceived, echoed }: RequestTotals): string {
  const problems = [refused > 0 && `${formatNumber(refused)} blocked`, failed > 0 && `${formatNumber(failed)} failed`];
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
