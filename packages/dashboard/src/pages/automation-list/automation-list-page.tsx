import { unwrap } from '@gantry/api-client';
import { Button, NativeSelect, Skeleton, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import { automationKeys } from '../../automations/automation-keys';
import { AutomationStatusChip } from '../../automations/automation-status';
import { RunStatusChip } from '../../runs/run-status';
import { cronWords } from '../../schedules/cron-words';
import { type AutomationItem, api } from '../../shell/api';
import { automationPath, paths } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { Empty } from '../../ui/empty';
import { SearchIcon } from '../../ui/icons';
import { FailedToLoad } from '../../ui/notice';
import { Timestamp } from '../../ui/timestamp';
import styles from './automation-list-page.module.css';
import { FirstAutomation } from './first-automation';

const TYPING_MS = 200;

type Status = AutomationItem['status'];
const STATUSES: { value: Status | ''; label: string }[] = [
  { value: '', label: 'Active and paused' },
  { value: 'active', label: 'Active' },
  { value: 'paused', label: 'Paused' },
  { value: 'archived', label: 'Archived' },
];

export default function AutomationListPage() {
  useTitle('Automations');
  const workspace = useWorkspace();
  const workspaceId = workspace?.id;
  const [search, setSearch] = useState('');
  const [q] = useDebouncedValue(search.trim(), TYPING_MS);
  const [status, setStatus] = useState<Status | ''>('');
  const { data, error, isError, refetch } = useQuery({
    queryKey: automationKeys.list(workspaceId, q, status),
    enabled: workspaceId !== undefined,
    queryFn: () =>
      unwrap(api.GET('/api/automations', { params: { query: { ...(q && { q }), ...(status && { status }) } } })),
    placeholderData: keepPreviousData,
  });
  const automations = data?.automations;
  return (
    <>
      <div className={styles.head}>
        <h1>Automations</h1>
        <NativeSelect
          className={styles.filter}
          aria-label="Status"
          value={status}
          data={STATUSES}
          onChange={(event) => setStatus(event.currentTarget.value as Status | '')}
        />
        <TextInput
          className={styles.search}
          type="search"
          aria-label="Search automations"
          placeholder="Search by name or description"
          leftSection={<SearchIcon />}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        {workspace && workspace.role !== 'viewer' && (
          <Button component={Link} to={paths.newAutomation}>
            New automation
          </Button>
        )}
      </div>
      <p className="visually-hidden" role="status">
        {automations && `${automations.length} ${automations.length === 1 ? 'automation' : 'automations'}`}
      </p>
      {isError && !automations ? (
        <FailedToLoad what="The list" error={error} retry={refetch} />
      ) : !automations ? (
        <Loading />
      ) : automations.length > 0 ? (
        <ul className={styles.list}>
          {automations.map((automation) => (
            <Row key={automation.id} automation={automation} />
          ))}
        </ul>
      ) : q ? (
        <Empty title={`Nothing is called “${q}”`} level={2}>
          <p>The search looks at names and descriptions. Try fewer letters.</p>
        </Empty>
      ) : status ? (
        <Empty title={`No automation is ${status}`} level={2}>
          <p>Choose another status above.</p>
        </Empty>
      ) : (
        <FirstAutomation />
      )}
    </>
  );
}

function Row({ automation }: { automation: AutomationItem }) {
  const { id, name, description, status, schedule, scheduleEnabled, nextRunAt, lastRunAt, lastRunStatus } = automation;
  return (
    <li className={styles.row}>
      <div className={styles.what}>
        <Link className={styles.name} to={automationPath(id)}>
          {name}
        </Link>
        {description && <p className={styles.description}>{description}</p>}
      </div>
      <div className={styles.state}>
        <AutomationStatusChip status={status} />
        {schedule && scheduleEnabled && (
          <span title={schedule}>{sentence(cronWords(schedule) ?? `on the schedule ${schedule}`)}</span>
        )}
        {nextRunAt !== null && (
          <span>
            Next run <Timestamp at={nextRunAt} />
          </span>
        )}
      </div>
      <div className={styles.last}>
        {lastRunStatus ? <RunStatusChip status={lastRunStatus} /> : <span>Never run</span>}
        {lastRunAt !== null && <Timestamp at={lastRunAt} />}
      </div>
    </li>
  );
}

const sentence = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

const ROWS = ['a', 'b', 'c', 'd'];

function Loading() {
  return (
    <ul className={styles.list} aria-busy="true" aria-label="Loading">
      {ROWS.map((row) => (
        <li key={row} className={styles.row}>
          <div className={styles.what}>
            <Skeleton height={20} width="40%" />
            <Skeleton height={14} width="70%" mt={8} />
          </div>
        </li>
      ))}
    </ul>
  );
}
