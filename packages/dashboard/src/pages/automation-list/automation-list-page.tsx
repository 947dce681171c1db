import { Box, Group, NativeSelect, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import { automationKeys } from '../../automations/automation-keys';
import { AutomationStatusChip } from '../../automations/automation-status';
import { RunStatusChip } from '../../runs/run-status';
import { describeCron } from '../../schedules/describe-cron';
import { type AutomationItem, api } from '../../shell/api';
import { LinkButton } from '../../shell/link-button';
import { automationPath, paths } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { useWorkspaceQuery } from '../../shell/use-workspace-query';
import { bindChoice } from '../../ui/bind';
import { EmptyState } from '../../ui/empty-state';
import links from '../../ui/link-row.module.css';
import { LoadingRows } from '../../ui/loading-rows';
import { LoadErrorNotice } from '../../ui/notice';
import { SearchField } from '../../ui/search-field';
import { Timestamp } from '../../ui/timestamp';
import styles from './automation-list-page.module.css';
import { EmptyAutomationList } from './empty-automation-list';

const SEARCH_DEBOUNCE_MS = 200;

type Status = AutomationItem['status'];
const STATUS_OPTIONS: { value: Status | ''; label: string }[] = [
  { value: '', label: 'Active and paused' },
  { value: 'active', label: 'Active' },
  { value: 'paused', label: 'Paused' },
  { value: 'archived', label: 'Archived' },
];

export default function AutomationListPage() {
  useTitle('Automations');
  const role = useWorkspace()?.role;
  const [search, setSearch] = useState('');
  const [q] = useDebouncedValue(search.trim(), SEARCH_DEBOUNCE_MS);
  const [status, setStatus] = useState<Status | ''>('');
  const query = { ...(q && { q }), ...(status && { status }) };
  const { data, error, isError, refetch } = useWorkspaceQuery(
    (workspaceId) => automationKeys.list(workspaceId, q, status),
    () => api.automation.GET('/api/automations', { params: { query } }),
    { placeholderData: keepPreviousData },
  );
  const automations = data?.automations;
  return (
    <>
      <Group gap="md" justify="space-between" mb="lg">
        <Box component="h1" flex="1 0 auto">
          Automations
        </Box>
        <NativeSelect flex="0 0 auto" aria-label="Status" data={STATUS_OPTIONS} {...bindChoice(status, setStatus)} />
        <SearchField
          className={styles.search}
          label="Search automations"
          placeholder="Search by name or description"
          value={search}
          onChange={setSearch}
        />
        {role && role !== 'viewer' && <LinkButton to={paths.newAutomation}>New automation</LinkButton>}
      </Group>
      <p className="visually-hidden" role="status">
        {automations && `${automations.length} ${automations.length === 1 ? 'automation' : 'automations'}`}
      </p>
      {isError && !automations ? (
        <LoadErrorNotice what="The automations" error={error} retry={refetch} />
      ) : !automations ? (
        <LoadingRows />
      ) : automations.length > 0 ? (
        <ul className={`${links.card} divided surface`}>
          {automations.map((automation) => (
            <AutomationRow key={automation.id} automation={automation} />
          ))}
        </ul>
      ) : q ? (
        <EmptyState title={`No automations match “${q}”`} level={2}>
          <p>Try a shorter search term. Only names and descriptions are searched.</p>
        </EmptyState>
      ) : status ? (
        <EmptyState title={`No ${status} automations`} level={2}>
          <p>Choose another status above.</p>
        </EmptyState>
      ) : (
        <EmptyAutomationList />
      )}
    </>
  );
}

function AutomationRow({ automation }: { automation: AutomationItem }) {
  const { id, name, description, status, schedule, scheduleEnabled, nextRunAt, lastRunAt, lastRunStatus } = automation;
  return (
    <li className={`${links.row} ${styles.row}`}>
      <div className={styles.what}>
        <Link className={`${links.link} ${links.name} stretched-link`} to={automationPath(id)}>
          {name}
        </Link>
        {description && (
          <Text className="wrap-anywhere" lineClamp={2} mt={2} fz="sm" c="dimmed">
            {description}
          </Text>
        )}
      </div>
      <Group gap="xs" fz="xs" c="dimmed">
        <AutomationStatusChip status={status} />
        {schedule && scheduleEnabled && (
          <span title={schedule}>{capitalize(describeCron(schedule) ?? `cron schedule ${schedule}`)}</span>
        )}
        {nextRunAt !== null && (
          <span>
            Next run <Timestamp at={nextRunAt} />
          </span>
        )}
      </Group>
      <Group gap="xs" fz="xs" c="dimmed">
        {lastRunStatus ? <RunStatusChip status={lastRunStatus} /> : <span>Never run</span>}
        {lastRunAt !== null && <Timestamp at={lastRunAt} />}
      </Group>
    </li>
  );
}

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
