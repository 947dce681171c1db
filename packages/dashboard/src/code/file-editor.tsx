import { CodeEditor } from './code-editor';
import type { EditorSurfaceProps } from './editor-surface';
import styles from './file-editor.module.css';

/** Edits a file in a surface of fixed height; without `onChange` it is read-only. */
export const FileEditor = (props: Omit<EditorSurfaceProps, 'readOnly'>) => (
  <div className={styles.surface}>
    <CodeEditor height="fill" readOnly={!props.onChange} {...props} />
  </div>
);
