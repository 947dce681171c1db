import { Button, Text } from '@mantine/core';
import { Fragment } from 'react';
import { Link } from 'react-router';
import { CONNECTION_KIND_LABELS, formatCheckResult } from '../../connections/connection-labels';
import { type Connection, needsConsent, useConnectionMutations } from '../../connections/connection-queries';
import { ConnectionStatusChip } from '../../connections/connection-status';
import { connectionPath, workerPath } from '../../shell/paths';
import { toast } from '../../shell/toasts';
import { ConfirmButton, toAction } from '../../ui/confirm-button';
import { NameCell } from '../../ui/name-cell';
import { ErrorNotice } from '../../ui/notice';
import { buildActionsColumn, type Column } from '../../ui/table-model';
import { buildTimeColumn } from '../../ui/time-column';

export const CONNECTION_COLUMNS: Column<Connection>[] = [
  {
    head: 'Connection',
    sortBy: ({ label }) => label,
    cell: ({ id, label, app, kind, problem, account_label, url, visibility }) => (
      <NameCell name={<Link to={connectionPath(id)}>{label}</Link>}>
        {[
          CONNECTION_KIND_LABELS[kind],
          app,
          account_label ?? url,
          visibility === 'private' && 'only available to your private workers',
        ]
          .filter(Boolean)
          .join(' · ')}
        {problem && (
          <Text span inherit c="bright">
            {problem}
          </Text>
        )}
      </NameCell>
    ),
  },
  {
    head: 'Used by',
    isLabelled: true,
    cell: ({ used_by }) =>
      used_by.length === 0
        ? 'No workers'
        : used_by.map((worker, index) => (
            <Fragment key={worker.id}>
              {index > 0 && ', '}
              <Link to={workerPath(worker.id)}>{worker.name}</Link>
              {worker.exposed && ' (code can read the value)'}
            </Fragment>
          )),
  },
  buildTimeColumn('Last used', ({ last_used_at }) => last_used_at, { none: 'Never' }),
  { head: 'Status', sortBy: ({ status }) => status, cell: ({ status }) => <ConnectionStatusChip status={status} /> },
  buildActionsColumn((connection) => <ConnectionActions connection={connection} />),
];

function ConnectionActions({ connection }: { connection: Connection }) {
  const { label, status, permissions } = connection;
  const { check, consent, remove } = useConnectionMutations();
  if (!permissions.edit) return null;
  return (
    <>
      <ErrorNotice error={consent.error ?? remove.error ?? check.error} />
      {needsConsent(connection) && status !== 'active' && (
        <Button loading={consent.isPending} onClick={() => consent.mutate(connection)}>
          Give consent
        </Button>
      )}
      {status !== 'pending' && (
        <Button
          variant="default"
          aria-label={`Check ${label}`}
          loading={check.isPending}
          onClick={() => check.mutate(connection, { onSuccess: (outcome) => toast(formatCheckResult(label, outcome)) })}
        >
          Check
        </Button>
      )}
      {permissions.delete && (
        <ConfirmButton
          label={`Delete ${label}`}
          question="Delete now"
          {...toAction(remove, connection, { onSuccess: () => toast(`${label} deleted`) })}
        >
          Delete
        </ConfirmButton>
      )}
    </>
  );
}
