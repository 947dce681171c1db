import { Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { type CodeProblem, countProblemsByFile, type FailureLocation, type FileProblem } from '../../code/code-problem';
import { DownloadZipButton } from '../../code/download-zip-button';
import { DraftBar } from '../../code/draft-bar';
import { DraftConflict } from '../../code/draft-conflict';
import { EditorColumns } from '../../code/editor-columns';
import { FileTree } from '../../code/file-tree';
import { diffFiles, findText } from '../../code/files';
import { SaveDialog } from '../../code/save-dialog';
import { useTypeCheck } from '../../code/type-check/use-type-check';
import type { Draft, DraftSource } from '../../code/use-draft';
import { useDraftTree } from '../../code/use-draft-tree';
import { api, hasErrorStatus, type Worker } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { useWorkspace } from '../../shell/use-me';
import { useWorkspaceQuery } from '../../shell/use-workspace-query';
import { Notice } from '../../ui/notice';
import { useInvalidateWorkers, workerKeys } from '../../workers/use-worker';
import { cacheVersionFiles } from '../../workers/version-files';
import { AgentPanel } from './agent-panel';
import { EditorPane } from './editor-pane';
import { RehearseDraftButton } from './rehearse-draft-button';
import { TestPanel } from './test-panel';
import { type DraftProblem, useInspection } from './use-inspection';

interface CodeWorkspaceProps {
  worker: Worker;
  source: DraftSource;
  draft: Draft;
}

export function CodeWorkspace({ worker, source, draft }: CodeWorkspaceProps) {
  const { base, files, changes, write } = draft;
  const { canEdit } = source;
  const save = useSaveDraft(worker, draft);
  const [isSaving, setSaving] = useState(false);
  const [failure, setFailure] = useState<FailureLocation | null>(null);
  const isChecked = canEdit && worker.runner === 'python';
  const inspection = useInspection(worker, draft, isChecked);
  const types = useTypeCheck({ files, entrypoint: worker.entrypoint, inputs: worker.inputs }, isChecked);
  const problems = [...inspection.problems, ...types.problems];
  const paths = useMemo(() => [...new Set([...base.keys(), ...files.keys()])], [base, files]);
  const { kinds, selected, select, tree } = useDraftTree({
    draft,
    canEdit,
    paths,
    fallback: worker.entrypoint,
    protectedPath: worker.entrypoint,
    reserved: findReservedPathProblem,
  });
  const isOutdated = draft.baseSha !== worker.sha;
  const canSave = changes.length > 0 && !isOutdated;
  const canTest = worker.permissions.run && canEdit;

  function updateFile(text: string) {
    setFailure(null);
    write(new Map(files).set(selected, { text }));
  }

  return (
    <Stack gap="md">
      {isOutdated && changes.length > 0 && <NewerVersionConflict worker={worker} source={source} draft={draft} />}
      <DraftBar
        draft={draft}
        canEdit={canEdit}
        canSave={canSave}
        onSave={() => setSaving(true)}
        download={<DownloadZipButton name={worker.id} loadZip={() => downloadBundle(worker.id)} />}
      >
        <RehearseDraftButton worker={worker} draft={draft} disabled={!canSave} />
      </DraftBar>
      <EditorColumns
        files={<FileTree {...tree} problems={countProblemsByFile(problems)} />}
        editor={
          <>
            <EditorPane
              worker={worker}
              path={selected}
              before={findText(base, selected)}
              content={files.get(selected)}
              problems={listFileProblems(failure ? [...problems, failure] : problems, selected)}
              isStale={inspection.isStale || types.isStale}
              getPyright={types.getPyright}
              onChange={canEdit ? updateFile : undefined}
              onSave={() => canSave && setSaving(true)}
              onRestore={() => write(restoreFile(base, files, selected))}
            />
            {inspection.incompleteReason !== null && canEdit && (
              <Notice tone="info">{inspection.incompleteReason}</Notice>
            )}
          </>
        }
        panel={
          (worker.runner === 'agent' || canTest) && (
            <>
              {worker.runner === 'agent' && <AgentPanel worker={worker} />}
              {canTest && (
                <TestPanel
                  worker={worker}
                  draft={draft}
                  onFailure={(place) => {
                    setFailure(place);
                    if (place && paths.includes(place.file)) select(place.file);
                  }}
                />
              )}
            </>
          )
        }
      />
      {isSaving && <SaveDialog kinds={kinds} onSave={save} onClose={() => setSaving(false)} />}
    </Stack>
  );
}

/** Downloads the worker as a zip that another installation can import. */
async function downloadBundle(workerId: string): Promise<Blob> {
  const params = { path: { worker_id: workerId } };
  return api.worker.GET('/api/workers/{worker_id}/bundle.zip', { params, parseAs: 'blob' });
}

function useSaveDraft(worker: Worker, draft: Draft) {
  const queryClient = useQueryClient();
  const workspaceId = useWorkspace()?.id;
  const invalidateWorkers = useInvalidateWorkers();
  return async (message: string | undefined) => {
    const { baseSha: base_sha, changes: files } = draft;
    const params = { path: { worker_id: worker.id } };
    const body = { files, base_sha, ...(message && { message }) };
    try {
      const saved = await api.worker.PUT('/api/workers/{worker_id}/files', { params, body });
      const { warnings, ...savedWorker } = saved;
      cacheVersionFiles(queryClient, [workspaceId, worker.id, saved.sha], draft.files);
      draft.rebase(saved.sha, null);
      queryClient.setQueryData(workerKeys.one(workspaceId, worker.id), savedWorker);
      toast([`Saved as version ${saved.version}`, ...warnings].join('. '));
    } catch (error) {
      // Loads the version that another member has saved.
      if (hasErrorStatus(error, 409)) await invalidateWorkers();
      throw error;
    }
    void invalidateWorkers();
  };
}

function NewerVersionConflict({ worker, source, draft }: CodeWorkspaceProps) {
  const params = { path: { worker_id: worker.id, sha: worker.sha } };
  const { data } = useWorkspaceQuery(
    (workspaceId) => workerKeys.part(workspaceId, worker.id, 'version', { sha: worker.sha }),
    () => api.worker.GET('/api/workers/{worker_id}/versions/{sha}', { params }),
  );
  return <DraftConflict source={source} draft={draft} newer={data} />;
}

const MANIFEST_NAMES = ['worker.yaml', 'worker.yml', 'worker.json'];
const findReservedPathProblem = (path: string): string | null =>
  MANIFEST_NAMES.includes(path) ? `${path} is generated from the worker’s settings on download.` : null;

/** Lists the problems of a file, including those of the draft as a whole. */
const listFileProblems = (problems: (DraftProblem | FileProblem)[], path: string): CodeProblem[] =>
  problems
    .filter(({ file }) => file === path || file === null)
    .map(({ line, column, severity, message, hint }) => ({
      line: line ?? 1,
      severity,
      message,
      ...(column != null && { column }),
      ...(hint != null && { hint }),
    }));

function restoreFile(base: Draft['base'], files: Draft['files'], path: string): Draft['files'] {
  const original = base.get(path);
  const next = new Map(files);
  if (original) next.set(path, original);
  return diffFiles(base, next).length === 0 ? base : next;
}
