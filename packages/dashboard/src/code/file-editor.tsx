import { CodeEditor } from './code-editor';
import styles from './editing.module.css';
import type { EditorSurfaceProps } from './editor-surface';

/** Edits a file in a surface of fixed height; without `onChange` it is read-only. */
export const FileEditor = (props: Omit<EditorSurfaceProps, 'readOnly'>) => (
  <div className={styles.surface}>
    <CodeEditor height="fill" readOnly={!props.onChange} {...props} />
  </div>
);
