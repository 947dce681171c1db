import { ApiError, unwrap, type WorkerSchemas } from '@gantry/api-client';
import { Button, Skeleton } from '@mantine/core';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { SettingsFrame } from '../../settings/settings-frame';
import { workerApi } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';
import { DownloadIcon } from '../../ui/icons';
import { FailedToLoad, Failure, Notice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import styles from '../../ui/panel-content.module.css';
import { saveFile } from '../../ui/save-file';
import { Timestamp } from '../../ui/timestamp';

type Entry = WorkerSchemas['AuditEntry'];

const PAGE_SIZE = 50;

export default function AuditLogPage() {
  const workspace = useWorkspace();
  return (
    <SettingsFrame title="Audit log">
      {!workspace ? (
        <Skeleton height={200} />
      ) : workspace.permissions.read_audit_log ? (
        <AuditLog workspaceId={workspace.id} />
      ) : (
        <Notice tone="info">Admins and owners of {workspace.name} can read who changed what.</Notice>
      )}
    </SettingsFrame>
  );
}

function AuditLog({ workspaceId }: { workspaceId: string }) {
  const log = useInfiniteQuery({
    queryKey: ['audit-log', workspaceId],
    initialPageParam: undefined as Entry | undefined,
    queryFn: async ({ pageParam: last }) => {
      const before = last && { before_created_at: last.created_at, before_id: last.id };
      return unwrap((await workerApi()).GET('/api/audit-log', { params: { query: { limit: PAGE_SIZE, ...before } } }));
    },
    getNextPageParam: (page) => (page.length === PAGE_SIZE ? page.at(-1) : undefined),
  });
  const entries = log.data?.pages.flat();
  return (
    <Panel title="Who changed what" aside={<Export />}>
      {log.isError && !entries ? (
        <FailedToLoad what="The audit log" error={log.error} retry={log.refetch} />
      ) : !entries ? (
        <Skeleton height={200} />
      ) : entries.length === 0 ? (
        <p className={styles.text}>Nothing has been changed yet. Every change is written down here from now on.</p>
      ) : (
        <ul className={styles.list}>
          {entries.map((entry) => (
            <AuditRow key={entry.id} entry={entry} />
          ))}
        </ul>
      )}
      {log.hasNextPage && (
        <Button variant="default" loading={log.isFetchingNextPage} onClick={() => log.fetchNextPage()}>
          Show older
        </Button>
      )}
    </Panel>
  );
}

function AuditRow({ entry }: { entry: Entry }) {
  const { actor, action, resource, address, created_at, details } = entry;
  const changed = Object.entries(details ?? {}).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return (
    <li>
      <div>
        <p className={styles.what}>
          {actor.label ?? actor.kind} <code>{action}</code>
        </p>
        <p className={styles.about}>
          {[resource.id && `${resource.type} ${resource.id}`, ...changed, address && `from ${address}`]
            .filter(Boolean)
            .join(' · ')}
        </p>
      </div>
      <span className={styles.about}>
        <Timestamp at={Date.parse(created_at)} />
      </span>
    </li>
  );
}

/** The surface is another origin, so the file is fetched with the token and then handed to the browser. */
function Export() {
  const save = useMutation({
    mutationFn: async () => {
      const { data, response } = await (await workerApi()).GET('/api/audit-log/export', { parseAs: 'blob' });
      if (!data) throw new ApiError(response.status, 'export', `the server answered ${response.status}`, [], null);
      saveFile('audit-log.csv', data as Blob);
    },
  });
  return (
    <div className={styles.actions}>
      <Failure error={save.error} />
      <Button variant="default" leftSection={<DownloadIcon />} loading={save.isPending} onClick={() => save.mutate()}>
        Save as CSV
      </Button>
    </div>
  );
}
