import { unwrap } from '@gantry/sdk';
import { Button, Group, Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useRef, useState } from 'react';
import { useSearchParams } from 'react-router';
import { DraftConflict } from '../../code/conflict';
import { DownloadZip } from '../../code/download-zip';
import { FileTree } from '../../code/file-tree';
import { listChangeKinds } from '../../code/files';
import { UploadIcon } from '../../code/icons';
import { SaveDialog } from '../../code/save-dialog';
import { buildTreeEdit } from '../../code/tree-edit';
import type { Draft, DraftSource } from '../../code/use-draft';
import { contextFiles, contextKeys, useContextUpdate } from '../../contexts/use-context';
import { type Context, workerApi } from '../../shell/api';
import { getFileParam, setFileParam } from '../../shell/paths';
import { toast } from '../../shell/toasts';
import { useWorkspace } from '../../shell/use-me';
import { Columns } from '../../ui/columns';
import { DropZone } from '../../ui/drop-zone';
import { Empty } from '../../ui/empty';
import { Failure, Notice } from '../../ui/notice';
import { ContextFile } from './context-file';
import { useUploadFiles } from './use-upload';

interface ContextFilesProps {
  context: Context;
  source: DraftSource;
  draft: Draft;
}

export function ContextFiles({ context, source, draft }: ContextFilesProps) {
  const { base, files, changes, write } = draft;
  const { canEdit } = source;
  const [search, setSearch] = useSearchParams();
  const [isSaving, setSaving] = useState(false);
  const save = useSaveFiles(context, draft);
  const upload = useUploadFiles(context, draft);
  const chooser = useRef<HTMLInputElement>(null);
  const kinds = useMemo(() => listChangeKinds(base, files), [base, files]);
  const paths = useMemo(() => [...new Set([...base.keys(), ...files.keys()])].sort(), [base, files]);
  const requestedPath = getFileParam(search);
  const selected = requestedPath !== null && paths.includes(requestedPath) ? requestedPath : (paths[0] ?? null);
  const select = (path: string) => setSearch((params) => setFileParam(params, path), { replace: true });
  const isOutdated = draft.baseSha !== source.sha && changes.length > 0;

  function discard() {
    const before = files;
    write(base);
    toast('Your changes are discarded', { undo: () => write(before) });
  }

  return (
    <DropZone disabled={!canEdit} onDrop={({ files: dropped }) => upload.mutate([...dropped])}>
      <Stack gap="md">
        {isOutdated && <NewerVersionConflict context={context} source={source} draft={draft} />}
        <CredentialFindings findings={context.findings} />
        <Group gap="sm" justify="space-between">
          <Text fz="sm" c="dimmed" role="status">
            {canEdit ? changeSummary(changes.length) : 'You can read these files, and not change them.'}
          </Text>
          <Group gap="xs">
            <DownloadZip name={context.name} read={() => downloadZip(context.name)} />
            {canEdit && (
              <>
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
                {changes.length > 0 && (
                  <Button variant="default" onClick={discard}>
                    Discard changes
                  </Button>
                )}
                <Button disabled={changes.length === 0 || isOutdated} onClick={() => setSaving(true)}>
                  Save version
                </Button>
              </>
            )}
          </Group>
        </Group>
        <Failure title="Not uploaded" error={upload.error} />
        <Columns widths="15rem minmax(0, 1fr)" below="48rem">
          <FileTree
            label="Files"
            paths={paths}
            selected={selected}
            onSelect={select}
            changes={kinds}
            edit={canEdit ? buildTreeEdit({ files, write, select }) : undefined}
          />
          {selected === null ? (
            <Empty title="No files yet" level={2}>
              <p>
                {canEdit ? 'Drop files anywhere here, upload them, or begin with a new file.' : 'Nothing is in it.'}
              </p>
            </Empty>
          ) : (
            <ContextFile
              key={selected}
              path={selected}
              content={files.get(selected)}
              onChange={canEdit ? (text) => write(new Map(files).set(selected, { text })) : undefined}
              onSave={() => changes.length > 0 && !isOutdated && setSaving(true)}
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

function changeSummary(changeCount: number): string {
  if (changeCount === 0) return 'No changes.';
  return changeCount === 1 ? '1 file is changed, and not saved.' : `${changeCount} files are changed, and not saved.`;
}

function useSaveFiles(context: Context, draft: Draft) {
  const queryClient = useQueryClient();
  const workspaceId = useWorkspace()?.id;
  const updateCachedContext = useContextUpdate();
  return async (message: string | undefined) => {
    const params = { path: { name: context.name } };
    const body = { files: draft.changes, ...(message && { message }) };
    const saved = await unwrap((await workerApi()).PUT('/api/contexts/{name}/files', { params, body }));
    queryClient.setQueryData(contextFiles(workspaceId, context.name, saved.sha).queryKey, draft.files);
    draft.rebase(saved.sha, null);
    updateCachedContext(saved);
    toast([`Saved as version ${saved.version}`, ...(saved.warnings ?? [])].join('. '));
  };
}

function NewerVersionConflict({ context, source, draft }: ContextFilesProps) {
  const workspaceId = useWorkspace()?.id;
  const { data } = useQuery({
    queryKey: contextKeys.part(workspaceId, context.name, 'newest', { sha: context.sha }),
    queryFn: async () => {
      const params = { path: { name: context.name }, query: { limit: 1 } };
      return unwrap((await workerApi()).GET('/api/contexts/{name}/versions', { params }));
    },
  });
  return <DraftConflict source={source} draft={draft} newer={data?.[0]} />;
}

async function downloadZip(name: string): Promise<Blob> {
  const params = { path: { name } };
  return unwrap((await workerApi()).GET('/api/contexts/{name}/download', { params, parseAs: 'blob' }));
}

const CREDENTIAL_KINDS: Record<string, string> = { private_key: 'a private key', assigned_secret: 'a password or key' };
const FINDINGS_SHOWN = 5;

function CredentialFindings({ findings }: { findings: Context['findings'] }) {
  if (findings.length === 0) return null;
  return (
    <Notice tone="error" title="Something here looks like a credential">
      Anyone with access to this context can read it. Store it as a secret instead:
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
