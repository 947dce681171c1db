import { Skeleton } from '@mantine/core';
import { useMemo } from 'react';
import { Link, useSearchParams } from 'react-router';
import { ViewerNotice } from '../../accounts/viewer-notice';
import { PackageDropZone } from '../../automations/package-drop-zone';
import { type DraftSource, useDraft } from '../../code/use-draft';
import { getWorkerIdParam, paths } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { NewAutomationEditor } from './new-automation-editor';
import { NewAutomationFromWorker } from './new-automation-from-worker';
import { STARTER_FILES, STARTER_SHA } from './starter';

/** Creates an automation from a zip, a folder, the starter files or those of a worker, and deploys it. */
export default function NewAutomationPage() {
  useTitle('New automation');
  const workspace = useWorkspace();
  const [search] = useSearchParams();
  const workerId = getWorkerIdParam(search);
  if (!workspace) return <Skeleton height={480} radius={10} />;
  if (workspace.role === 'viewer') return <ViewerNotice action="deploy automations" />;
  if (workerId !== null)
    return <NewAutomationFromWorker key={workerId} workspaceId={workspace.id} workerId={workerId} />;
  return <NewAutomationFromStarter key={workspace.id} workspaceId={workspace.id} />;
}

function NewAutomationFromStarter({ workspaceId }: { workspaceId: string }) {
  const source = useMemo(
    (): DraftSource => ({
      key: `${workspaceId}.new-automation`,
      name: 'the new automation',
      sha: STARTER_SHA,
      canEdit: true,
      getFilesQuery: (sha) => ({
        queryKey: ['automation-starter', sha],
        queryFn: async () => STARTER_FILES,
        enabled: true,
        staleTime: Number.POSITIVE_INFINITY,
      }),
    }),
    [workspaceId],
  );
  const { draft } = useDraft(source);
  if (!draft) return <Skeleton height={480} radius={10} />;
  return (
    <NewAutomationEditor
      draft={draft}
      about={
        <span>
          An automation is a Python program with a form. Test it here, then deploy it to get a URL. For webhooks,
          approvals and contexts, create a <Link to={paths.newWorker}>worker</Link>.{' '}
          <Link to={paths.create}>Compare workers and automations</Link>
        </span>
      }
    >
      <PackageDropZone onFiles={draft.write} />
    </NewAutomationEditor>
  );
}
