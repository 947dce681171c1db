import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { bracketMatching, foldGutter, foldKeymap, indentOnInput } from '@codemirror/language';
import { lintGutter, lintKeymap } from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { Annotation, EditorState, type Extension, type TransactionSpec } from '@codemirror/state';
import {
  crosshairCursor,
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  rectangularSelection,
} from '@codemirror/view';
import { editorTheme } from './editor-theme';

/** Marks a change made by the page itself, which is not reported to `onChange`. */
const externalChange = Annotation.define<boolean>();

interface BaseExtensionOptions {
  /** Leaves room for marks beside the lines. */
  showsProblems: boolean;
  onChange: (text: string) => void;
  onSave: () => void;
}

export function buildBaseExtensions({ showsProblems, onChange, onSave }: BaseExtensionOptions): Extension {
  return [
    lineNumbers(),
    foldGutter({ openText: '⌄', closedText: '›' }),
    showsProblems ? lintGutter() : [],
    highlightSpecialChars(),
    history(),
    drawSelection(),
    EditorState.allowMultipleSelections.of(true),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    autocompletion({ icons: false }),
    rectangularSelection(),
    crosshairCursor(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    highlightSelectionMatches(),
    search({ top: true }),
    keymap.of([
      { key: 'Mod-s', preventDefault: true, run: () => handleSave(onSave) },
      ...closeBracketsKeymap,
      ...defaultKeymap,
      ...searchKeymap,
      ...historyKeymap,
      ...foldKeymap,
      ...completionKeymap,
      ...lintKeymap,
      indentWithTab,
    ]),
    EditorView.updateListener.of((update) => {
      if (!update.docChanged || update.transactions.some((one) => one.annotation(externalChange))) return;
      onChange(update.state.doc.toString());
    }),
    editorTheme,
  ];
}

function handleSave(onSave: () => void): boolean {
  onSave();
  return true;
}

/** Read-only text keeps the focus and the cursor, so that it can be read and copied by keyboard. */
export const buildEditableExtensions = ({ label, readOnly }: { label: string; readOnly: boolean }): Extension => [
  EditorState.readOnly.of(readOnly),
  EditorView.contentAttributes.of({
    'aria-label': readOnly ? label : `${label}. Press Escape, then Tab to leave the editor.`,
    'aria-readonly': String(readOnly),
    spellcheck: 'false',
    tabindex: '0',
  }),
];

export const buildReplaceTransaction = (state: EditorState, text: string): TransactionSpec => ({
  changes: { from: 0, to: state.doc.length, insert: text },
  annotations: externalChange.of(true),
});
