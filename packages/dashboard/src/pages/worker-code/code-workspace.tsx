import { unwrap } from '@gantry/api-client';
import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import { useSearchParams } from 'react-router';
import type { CodeProblem, FailedPlace } from '../../code/code-problem';
import { Conflict } from '../../code/conflict';
import { DownloadZip } from '../../code/download-zip';
import editing from '../../code/editing.module.css';
import { FileTree } from '../../code/file-tree';
import { changeKinds, changesBetween, textOf } from '../../code/files';
import { SaveDialog } from '../../code/save-dialog';
import { treeEdit } from '../../code/tree-edit';
import type { Draft, DraftSource } from '../../code/use-draft';
import layout from '../../code/workspace.module.css';
import { isStatus, type Worker, workerApi } from '../../shell/api';
import { fileIn, withFile } from '../../shell/paths';
import { toast } from '../../shell/toasts';
import { useWorkspace } from '../../shell/use-me';
import { Notice } from '../../ui/notice';
import { refreshWorkers, workerKeys } from '../../workers/use-worker';
import { keepVersionFiles } from '../../workers/version-files';
import { AgentPanel } from './agent-panel';
import { EditorPane } from './editor-pane';
import { RehearseDraft } from './rehearse-draft';
import { TestPanel } from './test-panel';
import { useInspection } from './use-inspection';

interface CodeWorkspaceProps {
  worker: Worker;
  source: DraftSource;
  draft: Draft;
}

export function CodeWorkspace({ worker, source, draft }: CodeWorkspaceProps) {
  const { base, files, changes, write } = draft;
  const { mayEdit } = source;
  const save = useSave(worker, draft);
  const [search, setSearch] = useSearchParams();
  const [isSaving, setSaving] = useState(false);
  const [failure, setFailure] = useState<FailedPlace | null>(null);
  const { problems, unknown, isStale } = useInspection(worker, draft, mayEdit && worker.runner === 'python');
  const kinds = useMemo(() => changeKinds(base, files), [base, files]);
  const paths = useMemo(() => [...new Set([...base.keys(), ...files.keys()])], [base, files]);
  const wanted = fileIn(search);
  const selected = wanted !== null && paths.includes(wanted) ? wanted : worker.entrypoint;
  const select = useCallback((path: string) => setSearch((now) => withFile(now, path), { replace: true }), [setSearch]);
  const counts = useMemo(() => countByFile(problems), [problems]);
  const isOutdated = draft.baseSha !== worker.sha;

  function discard() {
    const before = files;
    write(base);
    toast('Your changes are discarded', { undo: () => write(before) });
  }
  function change(text: string) {
    setFailure(null);
    write(new Map(files).set(selected, { text }));
  }

  return (
    <div className={layout.workspace}>
      {isOutdated && changes.length > 0 && <NewerVersion worker={worker} source={source} draft={draft} />}
      <div className={editing.bar}>
        <p className={editing.state} role="status">
          {mayEdit ? stateOf(changes.length) : 'You can read these files, and not change them.'}
        </p>
        <div className={editing.actions}>
          <DownloadZip name={worker.id} read={() => readBundle(worker.id)} />
          {mayEdit && (
            <>
              <Button variant="default" disabled={changes.length === 0} onClick={discard}>
                Discard changes
              </Button>
              <RehearseDraft worker={worker} draft={draft} disabled={changes.length === 0 || isOutdated} />
              <Button disabled={changes.length === 0 || isOutdated} onClick={() => setSaving(true)}>
                Save version
              </Button>
            </>
          )}
        </div>
      </div>
      <div className={layout.columns}>
        <div>
          <FileTree
            label="Files"
            paths={paths}
            selected={selected}
            onSelect={select}
            changes={kinds}
            problems={counts}
            edit={
              mayEdit
                ? treeEdit({ files, write, select, keeps: worker.entrypoint, reserved: reservedProblem })
                : undefined
            }
          />
        </div>
        <div className={layout.editor}>
          <EditorPane
            worker={worker}
            path={selected}
            before={textOf(base, selected)}
            content={files.get(selected)}
            problems={
              failure?.file === selected ? [...shownIn(problems, selected), failure] : shownIn(problems, selected)
            }
            isStale={isStale}
            onChange={mayEdit ? change : undefined}
            onSave={() => changes.length > 0 && !isOutdated && setSaving(true)}
            onRestore={() => write(restored(base, files, selected))}
          />
          {unknown !== null && mayEdit && <Notice tone="info">{unknown}</Notice>}
        </div>
        <div className={layout.test}>
          {worker.runner === 'agent' && <AgentPanel worker={worker} />}
          {worker.permissions.run && mayEdit && (
            <TestPanel
              worker={worker}
              draft={draft}
              onFailure={(found) => {
                setFailure(found);
                if (found && paths.includes(found.file)) select(found.file);
              }}
            />
          )}
        </div>
      </div>
      {isSaving && <SaveDialog kinds={kinds} onSave={save} onClose={() => setSaving(false)} />}
    </div>
  );
}

/** As a zip that another installation can read. */
async function readBundle(workerId: string): Promise<Blob> {
  const params = { path: { worker_id: workerId } };
  return unwrap((await workerApi()).GET('/api/workers/{worker_id}/bundle.zip', { params, parseAs: 'blob' }));
}

function useSave(worker: Worker, draft: Draft) {
  const queryClient = useQueryClient();
  const workspaceId = useWorkspace()?.id;
  return async (message: string | undefined) => {
    const { baseSha: base_sha, changes: files } = draft;
    const params = { path: { worker_id: worker.id } };
    const body = { files, base_sha, ...(message && { message }) };
    try {
      const saved = await unwrap((await workerApi()).PUT('/api/workers/{worker_id}/files', { params, body }));
      const { warnings, ...now } = saved;
      keepVersionFiles(queryClient, [workspaceId, worker.id, saved.sha], draft.files);
      draft.moveTo(saved.sha, null);
      queryClient.setQueryData(workerKeys.one(workspaceId, worker.id), now);
      toast([`Saved as version ${saved.version}`, ...warnings].join('. '));
    } catch (error) {
      // The page then shows what somebody else has saved.
      if (isStatus(error, 409)) await refreshWorkers(queryClient, workspaceId);
      throw error;
    }
    void refreshWorkers(queryClient, workspaceId);
  };
}

function NewerVersion({ worker, source, draft }: CodeWorkspaceProps) {
  const workspaceId = useWorkspace()?.id;
  const { data } = useQuery({
    queryKey: workerKeys.part(workspaceId, worker.id, 'version', { sha: worker.sha }),
    queryFn: async () => {
      const params = { path: { worker_id: worker.id, sha: worker.sha } };
      return unwrap((await workerApi()).GET('/api/workers/{worker_id}/versions/{sha}', { params }));
    },
  });
  return <Conflict source={source} draft={draft} newer={data} />;
}

function stateOf(changed: number): string {
  if (changed === 0) return 'No changes.';
  return changed === 1 ? '1 file is changed, and not saved.' : `${changed} files are changed, and not saved.`;
}

const MANIFESTS = ['worker.yaml', 'worker.yml', 'worker.json'];
const reservedProblem = (path: string): string | null =>
  MANIFESTS.includes(path) ? `${path} is made of the worker’s settings when it is downloaded.` : null;

const countByFile = (problems: { file: string | null }[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const { file } of problems) if (file) counts.set(file, (counts.get(file) ?? 0) + 1);
  return counts;
};

/** Problems of the draft as a whole are shown with every file. */
const shownIn = (problems: ReturnType<typeof useInspection>['problems'], path: string): CodeProblem[] =>
  problems
    .filter(({ file }) => file === path || file === null)
    .map(({ line, column, severity, message, hint }) => ({
      ...{ line: line ?? 1, severity, message },
      ...(column !== null && { column }),
      ...(hint !== null && { hint }),
    }));

function restored(base: Draft['base'], files: Draft['files'], path: string): Draft['files'] {
  const old = base.get(path);
  const next = new Map(files);
  if (old) next.set(path, old);
  return changesBetween(base, next).length === 0 ? base : next;
}
