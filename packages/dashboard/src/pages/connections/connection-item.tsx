import { Box, Button, Group, Text } from '@mantine/core';
import { Fragment } from 'react';
import { Link } from 'react-router';
import { CONNECTION_KIND_LABELS, checkResultLabel } from '../../connections/connection-labels';
import { type Connection, needsConsent, useConnectionChanges } from '../../connections/connection-queries';
import { ConnectionStatus } from '../../connections/connection-status';
import { connectionPath, workerPath } from '../../shell/paths';
import { toast } from '../../shell/toasts';
import { ConfirmButton } from '../../ui/confirm-button';
import { Failure } from '../../ui/notice';
import { Timestamp } from '../../ui/timestamp';

export function ConnectionItem({ connection }: { connection: Connection }) {
  const { id, label, app, kind, status, problem, account_label, url, visibility, last_used_at, used_by } = connection;
  const about = [
    CONNECTION_KIND_LABELS[kind],
    app,
    account_label ?? url,
    visibility === 'private' && 'only for your private workers',
  ];
  return (
    <li>
      <Box miw={0}>
        <Text className="wrap-anywhere" fw={640}>
          <Link to={connectionPath(id)}>{label}</Link>
        </Text>
        <Text className="wrap-anywhere" fz="sm" c="dimmed">
          {about.filter(Boolean).join(' · ')}
        </Text>
        {problem && (
          <Text className="wrap-anywhere" fz="sm" c="bright">
            {problem}
          </Text>
        )}
        <Text className="wrap-anywhere" fz="sm" c="dimmed">
          {used_by.length === 0 && 'No worker declares it'}
          {used_by.map((worker, index) => (
            <Fragment key={worker.id}>
              {index > 0 && ', '}
              <Link to={workerPath(worker.id)}>{worker.name}</Link>
              {worker.exposed && ' (its code gets the value)'}
            </Fragment>
          ))}
          {last_used_at && (
            <>
              , last used <Timestamp at={Date.parse(last_used_at)} />
            </>
          )}
        </Text>
      </Box>
      <ConnectionStatus status={status} />
      <ConnectionActions connection={connection} />
    </li>
  );
}

function ConnectionActions({ connection }: { connection: Connection }) {
  const { label, status, permissions } = connection;
  const { check, consent, remove } = useConnectionChanges();
  if (!permissions.edit) return null;
  return (
    <Group gap="xs" justify="flex-end">
      <Failure error={consent.error ?? remove.error ?? check.error} />
      {needsConsent(connection) && status !== 'active' && (
        <Button loading={consent.isPending} onClick={() => consent.mutate(connection)}>
          Consent
        </Button>
      )}
      {status !== 'pending' && (
        <Button
          variant="default"
          aria-label={`Check ${label}`}
          loading={check.isPending}
          onClick={() => check.mutate(connection, { onSuccess: (outcome) => toast(checkResultLabel(label, outcome)) })}
        >
          Check
        </Button>
      )}
      {permissions.delete && (
        <ConfirmButton
          label={`Delete ${label}`}
          question="Delete it"
          busy={remove.isPending}
          onConfirm={() => remove.mutate(connection, { onSuccess: () => toast(`${label} is deleted.`) })}
        >
          Delete
        </ConfirmButton>
      )}
    </Group>
  );
}
