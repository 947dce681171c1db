import { Skeleton } from '@mantine/core';
import { lazy, Suspense } from 'react';
import styles from './code-editor.module.css';
import type { EditorSurfaceProps } from './editor-surface';

/** The editor is larger than the page around it, so it comes as a file of its own. */
const EditorSurface = lazy(() => import('./editor-surface'));

interface CodeEditorProps extends EditorSurfaceProps {
  /** `grow`: as tall as its text, within bounds; `fill`: as tall as what it stands in. */
  height?: 'grow' | 'fill';
}

/**
 * Edits text with highlighting, search, completion and inline problems. Tab indents; Escape, then Tab leaves, as shown
 * below while the editor has the focus.
 */
export function CodeEditor({ height = 'grow', ...surface }: CodeEditorProps) {
  return (
    <div className={`${styles.editor} surface`} data-height={height}>
      <Suspense fallback={<Skeleton mih="10rem" radius={0} />}>
        <EditorSurface {...surface} />
      </Suspense>
      {!surface.readOnly && (
        <p className={styles.hint} aria-hidden="true">
          Press <kbd>Esc</kbd>, then <kbd>Tab</kbd> to leave the editor
        </p>
      )}
    </div>
  );
}
