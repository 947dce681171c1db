import { unwrap } from '@gantry/sdk';
import { Button, NativeSelect, Skeleton, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useNavigate } from 'react-router';
import { automationKeys } from '../../automations/automation-keys';
import { DropArea } from '../../automations/drop-area';
import styles from '../../automations/package-page.module.css';
import { PackageWorkspace } from '../../automations/package-workspace';
import { usePackage } from '../../automations/use-package';
import { type Draft, type DraftSource, useDraft } from '../../code/use-draft';
import { api } from '../../shell/api';
import { automationPath } from '../../shell/paths';
import { toast } from '../../shell/toasts';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { ConfirmButton } from '../../ui/confirm-button';
import { FormStack } from '../../ui/form';
import { Failure, Notice } from '../../ui/notice';
import { PageHead } from '../../ui/page-head';
import { Panel } from '../../ui/panel';
import { STARTER, STARTER_SHA } from './starter';

/** Creates an automation from a zip, a folder or the starter files, and deploys it. */
export default function NewAutomationPage() {
  useTitle('New automation');
  const workspace = useWorkspace();
  if (!workspace) return <Skeleton height={480} radius={10} />;
  if (workspace.role === 'viewer') {
    return (
      <Notice tone="info" title="Viewers can’t deploy automations">
        Ask an admin of the workspace for the role member.
      </Notice>
    );
  }
  return <NewAutomation key={workspace.id} workspaceId={workspace.id} />;
}

function NewAutomation({ workspaceId }: { workspaceId: string }) {
  const source = useMemo(
    (): DraftSource => ({
      key: `${workspaceId}.new-automation`,
      name: 'the new automation',
      sha: STARTER_SHA,
      canEdit: true,
      getFilesQuery: (sha) => ({
        queryKey: ['automation-starter', sha],
        queryFn: async () => STARTER,
        enabled: true,
        staleTime: Number.POSITIVE_INFINITY,
      }),
    }),
    [workspaceId],
  );
  const { draft } = useDraft(source);
  return draft ? <AutomationEditor workspaceId={workspaceId} draft={draft} /> : <Skeleton height={480} radius={10} />;
}

function AutomationEditor({ workspaceId, draft }: { workspaceId: string; draft: Draft }) {
  const pack = usePackage(draft);
  return (
    <div className={styles.page}>
      <PageHead
        title="New automation"
        about="Python with a form: it is tested here in the sandbox, and gets an address of its own when it is deployed."
        actions={
          draft.changes.length > 0 && (
            <ConfirmButton
              label="Start over, without these files"
              question="Discard them"
              busy={false}
              onConfirm={() => draft.write(draft.base)}
            >
              Start over
            </ConfirmButton>
          )
        }
      />
      <DropArea onFiles={draft.write} />
      <PackageWorkspace draft={draft} packageDraft={pack} automationId={null}>
        <DeployPanel workspaceId={workspaceId} draft={draft} pack={pack} />
      </PackageWorkspace>
    </div>
  );
}

type Visibility = 'private' | 'public';

interface DeployPanelProps {
  workspaceId: string;
  draft: Draft;
  pack: ReturnType<typeof usePackage>;
}

function DeployPanel({ workspaceId, draft, pack }: DeployPanelProps) {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const [visibility, setVisibility] = useState<Visibility>('private');
  const deploy = useMutation({
    mutationFn: async () => {
      const { artifactId, warnings } = await pack.artifact();
      const deployed = await unwrap(api.POST('/api/deploy', { body: { artifactId, visibility } }));
      return { ...deployed, warnings: [...warnings, ...deployed.warnings] };
    },
    onSuccess: ({ id, name, warnings }) => {
      void queryClient.invalidateQueries({ queryKey: automationKeys.all(workspaceId) });
      draft.rebase(STARTER_SHA, null);
      toast([`${name} is deployed`, ...warnings].join('. '));
      navigate(automationPath(id));
    },
  });
  const { manifest } = pack;
  return (
    <Panel title="Deploy">
      <FormStack
        gap="md"
        onSubmit={(event) => {
          event.preventDefault();
          deploy.mutate();
        }}
      >
        <Text fz="sm" c="dimmed">
          {'problem' in manifest
            ? 'Correct its manifest first.'
            : `As “${manifest.name}”, version 1. Its name, inputs and outputs are in manifest.json.`}
        </Text>
        <NativeSelect
          label="Who may run it"
          value={visibility}
          onChange={(event) => setVisibility(event.currentTarget.value as Visibility)}
          data={[
            { value: 'private', label: 'Members of the workspace' },
            { value: 'public', label: 'Anyone with the link' },
          ]}
        />
        <Failure title="It was not deployed" error={deploy.error} />
        <Button type="submit" loading={deploy.isPending} disabled={'problem' in manifest} fullWidth>
          Deploy
        </Button>
      </FormStack>
    </Panel>
  );
}
