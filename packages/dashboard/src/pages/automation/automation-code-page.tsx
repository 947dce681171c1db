import { Button, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { automationKeys } from '../../automations/automation-keys';
import { formatManifest, MANIFEST_PATH } from '../../automations/manifest';
import { PackageDropZone } from '../../automations/package-drop-zone';
import { unzipFiles } from '../../automations/package-files';
import { PackageWorkspace } from '../../automations/package-workspace';
import { type Package, usePackage } from '../../automations/use-package';
import { invalidateAutomation } from '../../automations/use-update-automation';
import { DraftConflict } from '../../code/draft-conflict';
import type { Files, FilesQuery } from '../../code/files';
import { type Draft, type DraftSource, useDraft } from '../../code/use-draft';
import { type Automation, api } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { useWorkspace } from '../../shell/use-me';
import { bindText } from '../../ui/bind';
import { FormStack, handleSubmit } from '../../ui/form';
import { ErrorNotice, LoadErrorNotice, Notice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { AutomationLayout } from './automation-layout';
import { useAutomationVersions } from './use-automation-page';

/** Edits and tests the files of the current version, and deploys them as the next one. */
export default function AutomationCodePage() {
  return (
    <AutomationLayout tab="Code">
      {(automation, { id, role }) => (
        <AutomationCode automation={automation} workspaceId={id} canEdit={role !== 'viewer'} />
      )}
    </AutomationLayout>
  );
}

interface AutomationCodeProps {
  automation: Automation;
  workspaceId: string;
  canEdit: boolean;
}

function AutomationCode({ automation, workspaceId, canEdit }: AutomationCodeProps) {
  const { id, name, artifactId, manifest } = automation;
  const source = useMemo(
    (): DraftSource => ({
      key: `${workspaceId}.automation.${id}`,
      name,
      sha: artifactId,
      canEdit,
      getFilesQuery: (artifact) => artifactFilesQuery(artifact, manifest),
    }),
    [workspaceId, id, name, artifactId, canEdit, manifest],
  );
  const { draft, error, retry } = useDraft(source);
  if (draft) return <AutomationCodeEditor automation={automation} canEdit={canEdit} source={source} draft={draft} />;
  if (error) return <LoadErrorNotice what="The code" error={error} retry={retry} />;
  return <Skeleton height={480} radius={10} />;
}

/** Loads an immutable artifact. Its manifest is not a file: that of the current version is used instead. */
const artifactFilesQuery = (artifactId: string, manifest: object): FilesQuery => ({
  queryKey: ['artifact-files', artifactId],
  queryFn: async (): Promise<Files> => {
    const params = { path: { artifactId } };
    const { downloadUrl } = await api.automation.GET('/api/artifacts/{artifactId}/code', { params });
    const response = await fetch(downloadUrl);
    if (!response.ok) throw new Error(`The zip file could not be downloaded (HTTP ${response.status}).`);
    const files = new Map(unzipFiles(new Uint8Array(await response.arrayBuffer())));
    return files.set(MANIFEST_PATH, { text: formatManifest(manifest) });
  },
  enabled: true,
  staleTime: Number.POSITIVE_INFINITY,
});

interface AutomationCodeEditorProps extends Omit<AutomationCodeProps, 'workspaceId'> {
  source: DraftSource;
  draft: Draft;
}

function AutomationCodeEditor({ automation, canEdit, source, draft }: AutomationCodeEditorProps) {
  const pack = usePackage(draft, automation.entrypoint);
  const isOutdated = draft.baseSha !== automation.artifactId;
  return (
    <Stack gap="md">
      {isOutdated && draft.changes.length > 0 && (
        <NewerVersionConflict automation={automation} source={source} draft={draft} />
      )}
      {canEdit ? (
        <PackageDropZone onFiles={draft.write} />
      ) : (
        <Notice tone="info">You can view these files but can’t deploy changes.</Notice>
      )}
      <PackageWorkspace draft={draft} packageDraft={pack} automationId={automation.id} canEdit={canEdit}>
        <DeployPanel automation={automation} draft={draft} pack={pack} isOutdated={isOutdated} />
      </PackageWorkspace>
    </Stack>
  );
}

function NewerVersionConflict({ automation, source, draft }: Omit<AutomationCodeEditorProps, 'canEdit'>) {
  const { data } = useAutomationVersions(automation.id);
  const newer = data?.versions.find(({ current }) => current);
  return (
    <DraftConflict
      source={source}
      draft={draft}
      newer={
        newer && {
          version: newer.version,
          author: null,
          message: newer.message,
          created_at: new Date(newer.createdAt).toISOString(),
        }
      }
    />
  );
}

interface DeployPanelProps {
  automation: Automation;
  draft: Draft;
  pack: Package;
  isOutdated: boolean;
}

function DeployPanel({ automation, draft, pack, isOutdated }: DeployPanelProps) {
  const { id } = automation;
  const workspaceId = useWorkspace()?.id;
  const queryClient = useQueryClient();
  const [message, setMessage] = useState('');
  const deploy = useMutation({
    mutationFn: async () => {
      const artifact = await pack.artifact();
      const params = { path: { automationId: id } };
      const body = { artifactId: artifact.artifactId, ...(message.trim() && { message: message.trim() }) };
      const deployed = await api.automation.POST('/api/automations/{automationId}/update', { params, body });
      return { ...artifact, ...deployed, warnings: [...artifact.warnings, ...deployed.warnings] };
    },
    onSuccess: async ({ artifactId, currentVersion, files, manifest, warnings }) => {
      setMessage('');
      // Needs no request: an artifact's manifest is not one of its files.
      queryClient.setQueryData(artifactFilesQuery(artifactId, manifest).queryKey, files);
      queryClient.setQueryData<Automation>(automationKeys.settings(workspaceId, id), {
        ...automation,
        artifactId,
        currentVersion,
        manifest,
      });
      draft.rebase(artifactId, null);
      toast([`Version ${currentVersion} deployed`, ...warnings].join('. '));
      await invalidateAutomation(queryClient, workspaceId, id);
    },
  });
  const isUnchanged = draft.changes.length === 0;
  return (
    <Panel title="Deploy">
      <FormStack onSubmit={handleSubmit(() => deploy.mutate())}>
        <TextInput
          label="Change message"
          description="Optional. Shown in the version history."
          maxLength={1_000}
          {...bindText(message, setMessage)}
        />
        <ErrorNotice title="New version not deployed" error={deploy.error} />
        <Button
          type="submit"
          loading={deploy.isPending}
          disabled={isUnchanged || isOutdated || 'problem' in pack.manifest}
          fullWidth
        >
          Deploy new version
        </Button>
        <Text fz="sm" c="dimmed">
          {isUnchanged
            ? 'No changes yet.'
            : 'The URL, schedule and history stay the same. You can roll back at any time.'}
        </Text>
      </FormStack>
    </Panel>
  );
}
