import { Button, Group, Skeleton } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useMembers } from '../../accounts/use-members';
import type { AuditEntry } from '../../audit/build-audit-message';
import { SettingsLayout } from '../../settings/settings-layout';
import { api, getWorkerApi } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';
import { usePagedQuery } from '../../shell/use-paged-query';
import { downloadFile } from '../../ui/download-file';
import { DownloadIcon } from '../../ui/icons';
import { ErrorNotice, LoadErrorNotice, Notice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { type AuditFilter, toAuditQuery, useAuditFilter } from './audit-filter';
import { AuditRow } from './audit-row';
import { FilterFields } from './filter-fields';

export default function AuditLogPage() {
  const workspace = useWorkspace();
  return (
    <SettingsLayout title="Audit log" about="Every change and who made it. Entries can’t be edited.">
      {!workspace ? (
        <Skeleton height={200} />
      ) : workspace.permissions.read_audit_log ? (
        <AuditLog />
      ) : (
        <Notice tone="info">Only admins and owners of {workspace.name} can view the audit log.</Notice>
      )}
    </SettingsLayout>
  );
}

function AuditLog() {
  const { filter, isFiltered, change, clear } = useAuditFilter();
  const members = useMembers();
  const people = useMemo(
    () => new Map((members.data ?? []).map(({ user_id, name, email }) => [user_id, name ?? email])),
    [members.data],
  );
  const auditQuery = toAuditQuery(filter);
  const log = usePagedQuery<AuditEntry>(
    (workspaceId) => ['audit', workspaceId, auditQuery],
    ({ limit }, last) => {
      const before = last && { before_created_at: last.created_at, before_id: last.id };
      return api.worker.GET('/api/audit-log', { params: { query: { limit, ...auditQuery, ...before } } });
    },
    { pageSize: 50 },
  );
  const { data: entries } = log;
  return (
    <Panel title="Changes" aside={<ExportButton filter={filter} />}>
      <FilterFields filter={filter} people={people} onChange={change} onClear={isFiltered ? clear : undefined} />
      {log.isError && !entries ? (
        <LoadErrorNotice what="The audit log" error={log.error} retry={log.refetch} />
      ) : !entries ? (
        <Skeleton height={200} />
      ) : entries.length === 0 ? (
        <p className="panel-text">
          {isFiltered ? 'No entries match these filters.' : 'No changes yet. New changes will appear here.'}
        </p>
      ) : (
        <ul className="divided" aria-label="Entries">
          {entries.map((entry) => (
            <AuditRow key={entry.id} entry={entry} people={people} />
          ))}
        </ul>
      )}
      {log.hasNextPage && (
        <Button variant="default" loading={log.isFetchingNextPage} onClick={() => log.fetchNextPage()}>
          Show older entries
        </Button>
      )}
    </Panel>
  );
}

/** Fetches the file with the token, since the API is another origin, and then saves it in the browser. */
function ExportButton({ filter }: { filter: AuditFilter }) {
  const save = useMutation({
    mutationFn: async () => {
      const { data, response } = await (await getWorkerApi()).GET('/api/audit-log/export', {
        params: { query: toAuditQuery(filter) },
        parseAs: 'blob',
      });
      if (!data) throw new Error(`The audit log couldn’t be exported (HTTP ${response.status}). Try again.`);
      downloadFile('audit-log.csv', data as Blob);
    },
  });
  return (
    <Group gap="xs">
      <ErrorNotice error={save.error} />
      <Button
        size="xs"
        variant="default"
        leftSection={<DownloadIcon />}
        loading={save.isPending}
        onClick={() => save.mutate()}
      >
        Export CSV
      </Button>
    </Group>
  );
}
