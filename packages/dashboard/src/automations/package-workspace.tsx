import { NativeSelect } from '@mantine/core';
import { type ReactNode, useMemo, useState } from 'react';
import { type CodeProblem, countProblemsByFile, type FailureLocation, type FileProblem } from '../code/code-problem';
import { EditorColumns } from '../code/editor-columns';
import { FileEditor } from '../code/file-editor';
import { FilePane } from '../code/file-pane';
import { FileTree } from '../code/file-tree';
import { ProblemList } from '../code/problem-list';
import type { PythonFile } from '../code/python-assist';
import type { DeclaredInput } from '../code/type-check/input-check';
import { useTypeCheck } from '../code/type-check/use-type-check';
import { useAssist } from '../code/use-assist';
import type { Draft } from '../code/use-draft';
import { useDraftTree } from '../code/use-draft-tree';
import { buildInputFormKey } from '../inputs/input-form';
import { Notice } from '../ui/notice';
import { Panel } from '../ui/panel';
import { MANIFEST_PATH } from './manifest';
import { PackageTestPanel } from './package-test-panel';
import type { Package } from './use-package';

/** A stable reference: a new list would be type-checked again. */
const NO_INPUTS: readonly DeclaredInput[] = [];

interface PackageWorkspaceProps {
  draft: Draft;
  packageDraft: Package;
  /** The automation whose secrets a test gets; null: it is not deployed yet. */
  automationId: string | null;
  canEdit?: boolean;
  /** Actions below the test. */
  children: ReactNode;
}

/** Edits and tests the files of an automation before they are deployed. */
export function PackageWorkspace({
  draft,
  packageDraft: pack,
  automationId,
  canEdit = true,
  children,
}: PackageWorkspaceProps) {
  const { files, write } = draft;
  const { manifest, entrypoint } = pack;
  const [failure, setFailure] = useState<FailureLocation | null>(null);
  const paths = useMemo(() => [...files.keys()], [files]);
  const { selected, select, tree } = useDraftTree({
    draft,
    canEdit,
    paths,
    fallback: entrypoint ?? MANIFEST_PATH,
    protectedPath: MANIFEST_PATH,
  });
  const isManifestInvalid = 'problem' in manifest;
  const types = useTypeCheck(
    { files, entrypoint: entrypoint ?? '', inputs: isManifestInvalid ? NO_INPUTS : manifest.inputs },
    canEdit,
  );
  const problems: FileProblem[] = [
    ...(isManifestInvalid ? [{ ...manifest.problem, file: MANIFEST_PATH }] : []),
    ...types.problems,
    ...(failure ? [failure] : []),
  ];

  function updateFile(text: string) {
    setFailure(null);
    write(new Map(files).set(selected, { text }));
  }

  return (
    <EditorColumns
      files={<FileTree {...tree} problems={countProblemsByFile(problems)} />}
      editor={
        <EditorPane
          draft={draft}
          packageDraft={pack}
          path={selected}
          problems={problems.filter(({ file }) => file === selected)}
          isStale={types.isStale}
          getPyright={types.getPyright}
          onChange={canEdit ? updateFile : undefined}
        />
      }
      panel={
        canEdit && (
          <>
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
              {isManifestInvalid ? (
                <Notice tone="error" title={`${MANIFEST_PATH} can’t be used`}>
                  {manifest.problem.message}. Fix the manifest to show the test form.
                </Notice>
              ) : (
                <PackageTestPanel
                  key={buildInputFormKey(manifest.inputs)}
                  manifest={manifest}
                  packageDraft={pack}
                  automationId={automationId}
                  onFailure={(found) => {
                    setFailure(found);
                    if (found && files.has(found.file)) select(found.file);
                  }}
                />
              )}
            </Panel>
            {children}
          </>
        )
      }
    />
  );
}

interface EditorPaneProps extends Pick<PackageWorkspaceProps, 'draft' | 'packageDraft'> {
  path: string;
  problems: CodeProblem[];
  isStale: boolean;
  getPyright: PythonFile['getPyright'];
  /** Undefined: read-only. */
  onChange: ((text: string) => void) | undefined;
}

function EditorPane({
  draft,
  packageDraft: { manifest },
  path,
  problems,
  isStale,
  getPyright,
  onChange,
}: EditorPaneProps) {
  const content = draft.files.get(path);
  const { inputs, secrets } = 'problem' in manifest ? { inputs: [], secrets: [] } : manifest;
  const loadAssist = useAssist(
    inputs.map(({ name }) => name),
    secrets,
    { path, getPyright },
  );
  const [cursor, setCursor] = useState<{ line: number; column?: number }>();
  return (
    <FilePane path={path}>
      {content && 'text' in content ? (
        <FileEditor
          label={`Code in ${path}`}
          path={path}
          value={content.text}
          problems={problems}
          onChange={onChange}
          cursor={cursor}
          {...(path.endsWith('.py') && { loadAssist })}
        />
      ) : (
        <Notice tone="info" title="Binary file">
          You can rename or delete this file here. To change its contents, choose a new zip file.
        </Notice>
      )}
      {onChange && path.endsWith('.py') && <ProblemList problems={problems} isStale={isStale} onSelect={setCursor} />}
    </FilePane>
  );
}
