import { Button } from '@mantine/core';
import { useState } from 'react';
import { CodeEditor } from '../../code/code-editor';
import type { CodeProblem } from '../../code/code-problem';
import { DiffView } from '../../code/diff-view';
import editing from '../../code/editing.module.css';
import type { FileContent } from '../../code/files';
import { useAssist } from '../../code/use-assist';
import type { Worker } from '../../shell/api';
import { Notice } from '../../ui/notice';
import styles from './code-workspace.module.css';

interface EditorPaneProps {
  worker: Worker;
  path: string;
  /** As it is in the version; null where it is no text, or not there. */
  before: string | null;
  /** Undefined: deleted. */
  content: FileContent | undefined;
  problems: CodeProblem[];
  isStale: boolean;
  /** Absent: it is only read. */
  onChange: ((text: string) => void) | undefined;
  onSave: () => void;
  onRestore: () => void;
}

export function EditorPane({
  worker,
  path,
  before,
  content,
  problems,
  isStale,
  onChange,
  onSave,
  onRestore,
}: EditorPaneProps) {
  const [showsChanges, setShowsChanges] = useState(false);
  const [cursor, setCursor] = useState<{ line: number; column?: number }>();
  const loadAssist = useAssist(
    worker.inputs.map(({ name }) => name),
    worker.secrets,
  );
  const text = content && 'text' in content ? content.text : null;
  const isChanged = before !== null && text !== null && before !== text;
  return (
    <section className={editing.pane} aria-label={path}>
      <div className={editing.paneHead}>
        <h2 className={editing.path}>{path}</h2>
        {isChanged && (
          <Button
            size="compact-sm"
            variant="default"
            aria-pressed={showsChanges}
            onClick={() => setShowsChanges(!showsChanges)}
          >
            {showsChanges ? 'Show editor' : 'Show changes'}
          </Button>
        )}
      </div>
      {!content ? (
        <Notice
          tone="info"
          title="Deleted in your draft"
          action={
            <Button variant="default" onClick={onRestore}>
              Restore
            </Button>
          }
        >
          Saving takes it out of the worker.
        </Notice>
      ) : text === null ? (
        <Notice tone="info" title="Not text">
          This file can be renamed or deleted here. To change it, download the bundle.
        </Notice>
      ) : showsChanges && isChanged ? (
        <DiffView label={`Changes of ${path}`} path={path} before={before ?? ''} after={text} />
      ) : (
        <div className={editing.surface}>
          <CodeEditor
            height="fill"
            label={`Code of ${path}`}
            path={path}
            value={text}
            problems={problems}
            readOnly={!onChange}
            onChange={onChange}
            onSave={onSave}
            cursor={cursor}
            {...(path.endsWith('.py') && { loadAssist })}
          />
        </div>
      )}
      {text !== null && onChange && worker.runner === 'python' && (
        <Problems problems={problems} isStale={isStale} onGo={setCursor} />
      )}
    </section>
  );
}

const sentence = (words: string): string =>
  `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.!?]$/.test(words) ? '' : '.'}`;

interface ProblemsProps {
  problems: CodeProblem[];
  isStale: boolean;
  onGo: (place: { line: number; column?: number }) => void;
}

const WORDS = { error: 'Error', warning: 'Warning', info: 'Note' };
const TONES = { error: 'error', warning: 'timeout', info: 'info' };

function Problems({ problems, isStale, onGo }: ProblemsProps) {
  if (problems.length === 0) {
    return (
      <p className={styles.none} role="status">
        {isStale ? 'Looking for problems…' : 'No problems found.'}
      </p>
    );
  }
  return (
    <ul className={styles.problems} aria-label="Problems">
      {problems.map(({ line, column, severity, message, hint }) => (
        <li key={`${line} ${column} ${message}`}>
          <button
            type="button"
            className={styles.problem}
            data-tone={TONES[severity]}
            onClick={() => onGo({ line, ...(column !== undefined && { column }) })}
          >
            <span className={styles.severity}>{WORDS[severity]}</span>
            <span>
              {sentence(message)}
              {hint && <span className={styles.hint}>{` ${sentence(hint)}`}</span>}
            </span>
            <span className={styles.line}>Line {line}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
