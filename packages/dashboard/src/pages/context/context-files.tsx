import { Button, Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useMemo, useRef, useState } from 'react';
import { DownloadZipButton } from '../../code/download-zip-button';
import { DraftBar } from '../../code/draft-bar';
import { DraftConflict } from '../../code/draft-conflict';
import { FileTree } from '../../code/file-tree';
import { UploadIcon } from '../../code/icons';
import { SaveDialog } from '../../code/save-dialog';
import type { Draft, DraftSource } from '../../code/use-draft';
import { useDraftTree } from '../../code/use-draft-tree';
import { contextFilesQuery, contextKeys, useUpdateCachedContext } from '../../contexts/use-context-pack';
import { api, type Context } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { useWorkspace } from '../../shell/use-me';
import { useWorkspaceQuery } from '../../shell/use-workspace-query';
import { Columns } from '../../ui/columns';
import { DropZone } from '../../ui/drop-zone';
import { EmptyState } from '../../ui/empty-state';
import { ErrorNotice, Notice } from '../../ui/notice';
import { ContextFile } from './context-file';
import { useUploadFiles } from './use-upload-files';

interface ContextFilesProps {
  context: Context;
  source: DraftSource;
  draft: Draft;
}

export function ContextFiles({ context, source, draft }: ContextFilesProps) {
  const { base, files, changes, write } = draft;
  const { canEdit } = source;
  const [isSaving, setSaving] = useState(false);
  const save = useSaveFiles(context, draft);
  const upload = useUploadFiles(context, draft);
  const chooser = useRef<HTMLInputElement>(null);
  const paths = useMemo(() => [...new Set([...base.keys(), ...files.keys()])].sort(), [base, files]);
  const { kinds, selected, tree } = useDraftTree({ draft, canEdit, paths, fallback: paths[0] ?? null });
  const isOutdated = draft.baseSha !== source.sha && changes.length > 0;

  const canSave = changes.length > 0 && !isOutdated;
  return (
    <DropZone disabled={!canEdit} onDrop={({ files: dropped }) => upload.mutate([...dropped])}>
      <Stack gap="md">
        {isOutdated && <NewerVersionConflict context={context} source={source} draft={draft} />}
        <CredentialFindings findings={context.findings} />
        <DraftBar
          draft={draft}
          canEdit={canEdit}
          canSave={canSave}
          onSave={() => setSaving(true)}
          download={<DownloadZipButton name={context.name} loadZip={() => downloadZip(context.name)} />}
        >
          <Button
            variant="default"
            leftSection={<UploadIcon />}
            loading={upload.isPending}
            onClick={() => chooser.current?.click()}
          >
            Upload
          </Button>
          <input
            ref={chooser}
            type="file"
            multiple
            hidden
            aria-label="Files to upload"
            onChange={(event) => {
              upload.mutate([...(event.currentTarget.files ?? [])]);
              event.currentTarget.value = '';
            }}
          />
        </DraftBar>
        <ErrorNotice title="Files not uploaded" error={upload.error} />
        <Columns widths="15rem minmax(0, 1fr)" below="48rem">
          <FileTree {...tree} />
          {selected === null ? (
            <EmptyState title="No files yet" level={2}>
              <p>{canEdit ? 'Drop files here, upload them, or create a new file.' : 'This context is empty.'}</p>
            </EmptyState>
          ) : (
            <ContextFile
              key={selected}
              path={selected}
              content={files.get(selected)}
              onChange={canEdit ? (text) => write(new Map(files).set(selected, { text })) : undefined}
              onSave={() => canSave && setSaving(true)}
              onRestore={() => {
                const old = base.get(selected);
                if (old) write(new Map(files).set(selected, old));
              }}
            />
          )}
        </Columns>
        {isSaving && <SaveDialog kinds={kinds} onSave={save} onClose={() => setSaving(false)} />}
      </Stack>
    </DropZone>
  );
}

function useSaveFiles(context: Context, draft: Draft) {
  const queryClient = useQueryClient();
  const workspaceId = useWorkspace()?.id;
  const updateCachedContext = useUpdateCachedContext();
  return async (message: string | undefined) => {
    const params = { path: { name: context.name } };
    const body = { files: draft.changes, ...(message && { message }) };
    const saved = await api.worker.PUT('/api/contexts/{name}/files', { params, body });
    queryClient.setQueryData(contextFilesQuery(workspaceId, context.name, saved.sha).queryKey, draft.files);
    draft.rebase(saved.sha, null);
    updateCachedContext(saved);
    toast([`Saved as version ${saved.version}`, ...(saved.warnings ?? [])].join('. '));
  };
}

function NewerVersionConflict({ context, source, draft }: ContextFilesProps) {
  const params = { path: { name: context.name }, query: { limit: 1 } };
  const { data } = useWorkspaceQuery(
    (workspaceId) => contextKeys.part(workspaceId, context.name, 'newest', { sha: context.sha }),
    () => api.worker.GET('/api/contexts/{name}/versions', { params }),
  );
  return <DraftConflict source={source} draft={draft} newer={data?.[0]} />;
}

const downloadZip = (name: string) =>
  api.worker.GET('/api/contexts/{name}/download', { params: { path: { name } }, parseAs: 'blob' });

const CREDENTIAL_KINDS: Record<string, string> = { private_key: 'private key', assigned_secret: 'password or key' };
const FINDINGS_SHOWN = 5;

function CredentialFindings({ findings }: { findings: Context['findings'] }) {
  if (findings.length === 0) return null;
  return (
    <Notice tone="error" title="Possible credentials found">
      Everyone with access to this context can read the lines below. Store credentials as secrets instead.
      <ul>
        {findings.slice(0, FINDINGS_SHOWN).map(({ path, line, kind }) => (
          <li key={`${path} ${line} ${kind}`}>
            <code>{path}</code>, line {line}: {CREDENTIAL_KINDS[kind] ?? kind.replaceAll('_', ' ')}
          </li>
        ))}
      </ul>
      {findings.length > FINDINGS_SHOWN && `And ${findings.length - FINDINGS_SHOWN} more.`}
    </Notice>
  );
}
