/** Themes editors and diffs with the colours of tokens.css, which reach into the shadow tree. */
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const field = {
  font: 'inherit',
  color: 'var(--ink)',
  background: 'var(--surface)',
  border: '1px solid var(--line-strong)',
  borderRadius: '6px',
  padding: '2px 8px',
};

const baseTheme = EditorView.theme({
  '&': {
    height: 'var(--editor-height)',
    minHeight: 'var(--editor-height-min)',
    maxHeight: 'var(--editor-height-max)',
    color: 'var(--ink)',
    backgroundColor: 'var(--surface)',
    fontSize: 'var(--text-xs)',
  },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': {
    fontFamily: 'var(--mantine-font-family-monospace)',
    lineHeight: '1.6',
    overflow: 'auto',
    minHeight: 'var(--editor-height-min)',
  },
  '.cm-content': { padding: '8px 0 var(--editor-foot, 28px)', caretColor: 'var(--ink)' },
  '.cm-line': { padding: '0 12px 0 4px' },
  '.cm-cursor, .cm-dropCursor': { borderInlineStartColor: 'var(--ink)', borderInlineStartWidth: '2px' },
  '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': {
    background: 'var(--editor-selection, var(--accent-wash))',
  },
  '.cm-gutters': {
    color: 'var(--ink-soft)',
    backgroundColor: 'var(--sunken)',
    borderInlineEnd: '1px solid var(--line)',
  },
  '.cm-lineNumbers .cm-gutterElement': { minWidth: '2.25rem', padding: '0 4px 0 8px' },
  '.cm-foldGutter .cm-gutterElement': { padding: '0 4px', cursor: 'pointer' },
  '.cm-foldPlaceholder': {
    color: 'var(--ink-soft)',
    background: 'var(--idle-wash)',
    border: 'none',
    padding: '0 6px',
  },
  '.cm-gutter-lint': { width: '1rem' },
  '.cm-gutter-lint .cm-gutterElement': { padding: '0' },
  // The default markers are pictures inside the sheet; a dot and its colour say the same.
  '.cm-lint-marker': {
    width: '0.5rem',
    height: '0.5rem',
    margin: '0.4rem auto 0',
    borderRadius: '50%',
    content: 'none',
  },
  '.cm-lint-marker-error': { content: 'none', background: 'var(--error)' },
  '.cm-lint-marker-warning': { content: 'none', background: 'var(--load)', borderRadius: '1px' },
  '.cm-lint-marker-info': { content: 'none', background: 'var(--accent)' },
  '.cm-lintRange': { textDecorationLine: 'underline', textDecorationStyle: 'wavy', textUnderlineOffset: '3px' },
  '.cm-lintRange-error': { backgroundImage: 'none', textDecorationColor: 'var(--error)' },
  '.cm-lintRange-warning': { backgroundImage: 'none', textDecorationColor: 'var(--load)' },
  '.cm-lintRange-info': { backgroundImage: 'none', textDecorationColor: 'var(--accent)' },
  '.cm-lintRange-active': { backgroundColor: 'var(--sunken)' },
  '.cm-diagnostic': { padding: '4px 10px', whiteSpace: 'pre-wrap', borderInlineStart: '3px solid var(--idle)' },
  '.cm-diagnostic-error': { borderInlineStartColor: 'var(--error)' },
  '.cm-diagnostic-warning': { borderInlineStartColor: 'var(--load)' },
  '.cm-diagnostic-info': { borderInlineStartColor: 'var(--accent)' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--sunken) 70%, transparent)' },
  '.cm-activeLineGutter': { color: 'var(--ink)', backgroundColor: 'transparent', fontWeight: '600' },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': {
    backgroundColor: 'transparent',
    outline: '1px solid var(--line-strong)',
  },
  '.cm-nonmatchingBracket, &.cm-focused .cm-nonmatchingBracket': { backgroundColor: 'var(--error-wash)' },
  '.cm-selectionMatch': { backgroundColor: 'var(--idle-wash)' },
  '.cm-searchMatch': { backgroundColor: 'var(--timeout-wash)', outline: '1px solid var(--load)' },
  '.cm-searchMatch-selected': { backgroundColor: 'var(--accent-wash)', outline: '2px solid var(--accent)' },
  '.cm-tooltip': {
    color: 'var(--ink)',
    backgroundColor: 'var(--surface)',
    border: '1px solid var(--line-strong)',
    borderRadius: '6px',
    maxWidth: 'min(36rem, 90vw)',
    zIndex: '20',
  },
  '.cm-tooltip-section:not(:first-child)': { borderTop: '1px solid var(--line)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': {
    fontFamily: 'var(--mantine-font-family-monospace)',
    maxHeight: '14rem',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '2px 10px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { color: 'var(--on-accent)', backgroundColor: 'var(--accent)' },
  '.cm-tooltip-autocomplete ul li[aria-selected] .cm-completionDetail': { color: 'inherit' },
  '.cm-completionDetail': { color: 'var(--ink-soft)', fontStyle: 'normal' },
  '.cm-tooltip.cm-completionInfo': { padding: '6px 10px', fontFamily: 'var(--mantine-font-family)' },
  '.cm-completionInfo': { whiteSpace: 'pre-wrap', maxWidth: '24rem' },
  '.cm-explained': { padding: '6px 10px' },
  '.cm-explained code': { fontFamily: 'var(--mantine-font-family-monospace)', overflowWrap: 'anywhere' },
  '.cm-explained p': { margin: '4px 0 0', fontFamily: 'var(--mantine-font-family)' },
  '.cm-panels': { color: 'var(--ink)', backgroundColor: 'var(--sunken)' },
  '.cm-panels-top': { borderBottom: '1px solid var(--line)' },
  '.cm-panel.cm-search': { padding: '8px 2rem 8px 8px', fontFamily: 'var(--mantine-font-family)' },
  '.cm-panel.cm-search label': { fontSize: 'var(--text-xs)' },
  '.cm-textfield': { ...field, fontSize: 'var(--text-xs)' },
  '.cm-button': { ...field, backgroundImage: 'none', fontSize: 'var(--text-xs)', cursor: 'pointer' },
  '.cm-panel.cm-search [name=close]': { color: 'var(--ink-soft)', fontSize: '1.25rem', top: '4px', right: '8px' },
  '&.cm-merge-a .cm-changedLine, .cm-deletedChunk': { backgroundColor: 'var(--error-wash)' },
  '&.cm-merge-b .cm-changedLine, .cm-inlineChangedLine': { backgroundColor: 'var(--success-wash)' },
  '&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText': {
    background: 'none',
    textDecoration: 'underline var(--error)',
  },
  '&.cm-merge-b .cm-changedText': { background: 'none', textDecoration: 'underline var(--success)' },
  '&.cm-merge-a .cm-changedLineGutter, .cm-deletedLineGutter': { background: 'var(--error)' },
  '&.cm-merge-b .cm-changedLineGutter': { background: 'var(--success)' },
  // Not every font has the default sign.
  '.cm-collapsedLines:before, .cm-collapsedLines:after': { content: '"…"' },
  '.cm-collapsedLines': {
    color: 'var(--ink-soft)',
    background: 'var(--sunken)',
    borderBlock: '1px solid var(--line)',
    fontFamily: 'var(--mantine-font-family)',
  },
  '.cm-panel :focus-visible': { outline: '2px solid var(--accent)', outlineOffset: '1px' },
});

const syntax = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword], color: 'var(--accent)', fontWeight: '600' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'var(--success)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--timeout)' },
  { tag: [tags.comment, tags.docComment, tags.meta], color: 'var(--ink-soft)', fontStyle: 'italic' },
  { tag: tags.function(tags.definition(tags.variableName)), fontWeight: '600' },
  { tag: [tags.className, tags.definition(tags.className), tags.typeName], color: 'var(--timeout)' },
  { tag: [tags.propertyName, tags.attributeName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
  { tag: [tags.heading, tags.strong], fontWeight: '700' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: [tags.link, tags.url], color: 'var(--accent)', textDecoration: 'underline' },
  { tag: tags.monospace, color: 'var(--success)' },
  { tag: tags.invalid, color: 'var(--error)' },
]);

export const editorTheme: Extension = [baseTheme, syntaxHighlighting(syntax)];
