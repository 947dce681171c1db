import { useState } from 'react';
import type { CodeProblem } from '../../code/code-problem';
import { DiffView } from '../../code/diff-view';
import { FileEditor } from '../../code/file-editor';
import { DeletedFileNotice, type DraftFileProps, FilePane, ViewToggle } from '../../code/file-pane';
import { ProblemList } from '../../code/problem-list';
import type { PythonFile } from '../../code/python-assist';
import { useAssist } from '../../code/use-assist';
import type { Worker } from '../../shell/api';
import { Notice } from '../../ui/notice';

interface EditorPaneProps extends DraftFileProps {
  worker: Worker;
  /** The text in the base version; null if it is binary or missing. */
  before: string | null;
  problems: CodeProblem[];
  isStale: boolean;
  getPyright: PythonFile['getPyright'];
}

export function EditorPane({
  worker,
  path,
  before,
  content,
  problems,
  isStale,
  getPyright,
  onChange,
  onSave,
  onRestore,
}: EditorPaneProps) {
  const [showsChanges, setShowsChanges] = useState(false);
  const [cursor, setCursor] = useState<{ line: number; column?: number }>();
  const loadAssist = useAssist(
    worker.inputs.map(({ name }) => name),
    worker.secrets,
    { path, getPyright },
  );
  const text = content && 'text' in content ? content.text : null;
  const isChanged = before !== null && text !== null && before !== text;
  return (
    <FilePane
      path={path}
      action={
        isChanged && (
          <ViewToggle
            isOn={showsChanges}
            onToggle={setShowsChanges}
            labels={{ on: 'Show editor', off: 'Show changes' }}
          />
        )
      }
    >
      {!content ? (
        <DeletedFileNotice from="worker" onRestore={onRestore} />
      ) : text === null ? (
        <Notice tone="info" title="Binary file">
          You can rename or delete this file here. To edit it, download the worker’s files.
        </Notice>
      ) : showsChanges && isChanged ? (
        <DiffView label={`Changes in ${path}`} path={path} before={before ?? ''} after={text} />
      ) : (
        <FileEditor
          label={`Code in ${path}`}
          path={path}
          value={text}
          problems={problems}
          onChange={onChange}
          onSave={onSave}
          cursor={cursor}
          {...(path.endsWith('.py') && { loadAssist })}
        />
      )}
      {text !== null && onChange && worker.runner === 'python' && (
        <ProblemList problems={problems} isStale={isStale} onSelect={setCursor} />
      )}
    </FilePane>
  );
}
