import { NativeSelect } from '@mantine/core';
import { type ReactNode, useMemo, useState } from 'react';
import { useSearchParams } from 'react-router';
import { CodeEditor } from '../code/code-editor';
import type { FailedPlace } from '../code/code-problem';
import editing from '../code/editing.module.css';
import { FileTree } from '../code/file-tree';
import { changeKinds } from '../code/files';
import { treeEdit } from '../code/tree-edit';
import { useAssist } from '../code/use-assist';
import type { Draft } from '../code/use-draft';
import layout from '../code/workspace.module.css';
import { fileIn, withFile } from '../shell/paths';
import { Notice } from '../ui/notice';
import { Panel } from '../ui/panel';
import { MANIFEST } from './manifest';
import { TestPackage } from './test-package';
import type { Package } from './use-package';

interface PackageWorkspaceProps {
  draft: Draft;
  pack: Package;
  /** Whose secrets a test gets; null: it is not deployed yet. */
  automationId: string | null;
  mayEdit?: boolean;
  /** Below the test: what is done with files that are right. */
  children: ReactNode;
}

/** The files of an automation, changed and tested before they are deployed. */
export function PackageWorkspace({ draft, pack, automationId, mayEdit = true, children }: PackageWorkspaceProps) {
  const { base, files, write } = draft;
  const { manifest, entrypoint } = pack;
  const [search, setSearch] = useSearchParams();
  const [failure, setFailure] = useState<FailedPlace | null>(null);
  const kinds = useMemo(() => changeKinds(base, files), [base, files]);
  const paths = useMemo(() => [...files.keys()], [files]);
  const wanted = fileIn(search);
  const selected = wanted !== null && files.has(wanted) ? wanted : (entrypoint ?? MANIFEST);
  const select = (path: string) => setSearch((now) => withFile(now, path), { replace: true });
  const isWrong = 'problem' in manifest;

  function change(text: string) {
    setFailure(null);
    write(new Map(files).set(selected, { text }));
  }

  return (
    <div className={layout.columns}>
      <div>
        <FileTree
          label="Files"
          paths={paths}
          selected={selected}
          onSelect={select}
          changes={kinds}
          problems={new Map(isWrong ? [[MANIFEST, 1]] : [])}
          edit={mayEdit ? treeEdit({ files, write, select, keeps: MANIFEST }) : undefined}
        />
      </div>
      <div className={layout.editor}>
        <EditorPane
          draft={draft}
          pack={pack}
          path={selected}
          failure={failure}
          onChange={mayEdit ? change : undefined}
        />
      </div>
      {mayEdit && (
        <div className={layout.test}>
          {pack.entrypoints.length > 1 && (
            <NativeSelect
              label="Entrypoint"
              description="The file that defines run()"
              value={entrypoint ?? ''}
              data={pack.entrypoints}
              onChange={(event) => pack.chooseEntrypoint(event.currentTarget.value)}
            />
          )}
          <Panel title="Test">
            {isWrong ? (
              <Notice tone="error" title={`${MANIFEST} can’t be used`}>
                {manifest.problem.message}. The form for a test comes from it.
              </Notice>
            ) : (
              <TestPackage
                // Another form begins where the manifest asks for something else.
                key={JSON.stringify(manifest.inputs)}
                manifest={manifest}
                pack={pack}
                automationId={automationId}
                onFailure={(found) => {
                  setFailure(found);
                  if (found && files.has(found.file)) select(found.file);
                }}
              />
            )}
          </Panel>
          {children}
        </div>
      )}
    </div>
  );
}

interface EditorPaneProps extends Pick<PackageWorkspaceProps, 'draft' | 'pack'> {
  path: string;
  failure: FailedPlace | null;
  /** Undefined: it is only read. */
  onChange: ((text: string) => void) | undefined;
}

function EditorPane({ draft, pack: { manifest }, path, failure, onChange }: EditorPaneProps) {
  const content = draft.files.get(path);
  const { inputs, secrets } = 'problem' in manifest ? { inputs: [], secrets: [] } : manifest;
  const loadAssist = useAssist(
    inputs.map(({ name }) => name),
    secrets,
  );
  const problems = useMemo(
    () => [
      ...(path === MANIFEST && 'problem' in manifest ? [manifest.problem] : []),
      ...(failure?.file === path ? [failure] : []),
    ],
    [path, manifest, failure],
  );
  return (
    <section className={editing.pane} aria-label={path}>
      <div className={editing.paneHead}>
        <h2 className={editing.path}>{path}</h2>
      </div>
      {content && 'text' in content ? (
        <div className={editing.surface}>
          <CodeEditor
            height="fill"
            label={`Code of ${path}`}
            path={path}
            value={content.text}
            problems={problems}
            readOnly={!onChange}
            onChange={onChange}
            {...(path.endsWith('.py') && { loadAssist })}
          />
        </div>
      ) : (
        <Notice tone="info" title="Not text">
          It can be renamed or deleted here. To change it, drop another zip.
        </Notice>
      )}
    </section>
  );
}
