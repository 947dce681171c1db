import { Button } from '@mantine/core';
import { Fragment, type ReactNode } from 'react';
import { Link } from 'react-router';
import { workerPath } from '../../shell/paths';
import { toast } from '../../shell/toasts';
import { ConfirmButton } from '../../ui/confirm-button';
import { CheckIcon, CrossIcon, WaitIcon } from '../../ui/icons';
import { Failure } from '../../ui/notice';
import { StatusChip, type Tone } from '../../ui/status-chip';
import { Timestamp } from '../../ui/timestamp';
import { type Connection, useConnectionChanges } from './connection-queries';
import styles from './connections-page.module.css';

const STATUS: Record<Connection['status'], { tone: Tone; word: string; icon: ReactNode }> = {
  active: { tone: 'success', word: 'Works', icon: <CheckIcon /> },
  pending: { tone: 'timeout', word: 'Waits for consent', icon: <WaitIcon /> },
  expired: { tone: 'error', word: 'Consent again', icon: <CrossIcon /> },
  error: { tone: 'error', word: 'Does not work', icon: <CrossIcon /> },
};

const KINDS: Record<Connection['kind'], string> = { oauth: 'Account', mcp: 'MCP server', api_key: 'Key' };

export function ConnectionItem({ connection }: { connection: Connection }) {
  const { label, app, kind, status, problem, account_label, url, visibility, last_used_at, used_by } = connection;
  const { tone, word, icon } = STATUS[status];
  const about = [KINDS[kind], app, account_label ?? url, visibility === 'private' && 'only for your private workers'];
  return (
    <li className={styles.item}>
      <div className={styles.words}>
        <p className={styles.title}>{label}</p>
        <p className={styles.about}>{about.filter(Boolean).join(' · ')}</p>
        {problem && <p className={styles.problem}>{problem}</p>}
        <p className={styles.about}>
          {used_by.length === 0 && 'No worker declares it'}
          {used_by.map((worker, at) => (
            <Fragment key={worker.id}>
              {at > 0 && ', '}
              <Link to={workerPath(worker.id)}>{worker.name}</Link>
              {worker.exposed && ' (its code gets the value)'}
            </Fragment>
          ))}
          {last_used_at && (
            <>
              , last used <Timestamp at={Date.parse(last_used_at)} />
            </>
          )}
        </p>
      </div>
      <StatusChip tone={tone} icon={icon}>
        {word}
      </StatusChip>
      <Actions connection={connection} />
    </li>
  );
}

function Actions({ connection }: { connection: Connection }) {
  const { label, kind, status, permissions } = connection;
  const { check, consent, remove } = useConnectionChanges();
  if (!permissions.edit) return null;
  const said = (found: { ok: boolean; error: string | null; tools_count?: number | undefined }) =>
    found.ok
      ? `${label} works${found.tools_count === undefined ? '' : `: ${found.tools_count} tools`}.`
      : `${label} does not work: ${found.error}`;
  return (
    <div className={styles.actions}>
      <Failure error={consent.error ?? remove.error ?? check.error} />
      {kind === 'oauth' && status !== 'active' && (
        <Button loading={consent.isPending} onClick={() => consent.mutate(connection)}>
          Consent
        </Button>
      )}
      {status !== 'pending' && (
        <Button
          variant="default"
          aria-label={`Check ${label}`}
          loading={check.isPending}
          onClick={() => check.mutate(connection, { onSuccess: (found) => toast(said(found)) })}
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
    </div>
  );
}
