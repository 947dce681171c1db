import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { editorTheme } from './editor-theme';
import { loadLanguage } from './languages';

export interface DiffSurfaceProps {
  /** Names the texts for screen readers. */
  label: string;
  /** Chooses the language. */
  path: string;
  before: string;
  after: string;
  unified: boolean;
}

const COLLAPSE_OPTIONS = { margin: 3, minSize: 6 };
/** Beyond it, lines are still compared exactly, but words in them only roughly. */
const DIFF_OPTIONS = { scanLimit: 1_000, timeout: 200 };

const buildReadOnlyExtensions = (label: string): Extension => [
  lineNumbers(),
  EditorState.readOnly.of(true),
  EditorView.contentAttributes.of({ 'aria-label': label, 'aria-readonly': 'true', tabindex: '0' }),
  editorTheme,
];

export default function DiffSurface({ label, path, before, after, unified }: DiffSurfaceProps) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = host.current as HTMLDivElement;
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
    let isCurrent = true;
    let view: { destroy: () => void } | undefined;
    loadLanguage(path).then((language) => {
      if (!isCurrent) return;
      // In an entirely new or deleted file, highlighted words carry no information.
      const highlightChanges = before !== '' && after !== '';
      const merge = { collapseUnchanged: COLLAPSE_OPTIONS, diffConfig: DIFF_OPTIONS, gutter: true, highlightChanges };
      if (unified) {
        const original = unifiedMergeView({ ...merge, original: before, mergeControls: false });
        const extensions = [buildReadOnlyExtensions(label), language, original];
        view = new EditorView({ doc: after, extensions, parent: root, root });
      } else {
        view = new MergeView({
          ...merge,
          a: { doc: before, extensions: [buildReadOnlyExtensions(`${label}, before`), language] },
          b: { doc: after, extensions: [buildReadOnlyExtensions(`${label}, after`), language] },
          parent: root,
          root,
        });
      }
    });
    return () => {
      isCurrent = false;
      view?.destroy();
    };
  }, [label, path, before, after, unified]);
  return <div ref={host} />;
}
