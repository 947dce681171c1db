import { Compartment, EditorState, type Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { Stack } from '@mantine/core';
import { useEffect, useRef } from 'react';
import type { CodeProblem } from './code-problem';
import { buildProblemTransaction } from './editor-problems';
import { buildBaseExtensions, buildEditableExtensions, buildReplaceTransaction } from './editor-setup';
import { loadLanguage } from './languages';

export interface EditorSurfaceProps {
  /** Names the editor for screen readers. */
  label: string;
  /** Path of the file: chooses the language, and each path keeps its own undo history and cursor. */
  path: string;
  value: string;
  onChange?: (value: string) => void;
  readOnly?: boolean;
  problems?: readonly CodeProblem[];
  /** Moves the cursor here; each new object moves it again. */
  cursor?: { line: number; column?: number };
  /** Ctrl+S. */
  onSave?: () => void;
  /** Further behaviour, such as completion, fetched when the editor is there. Must be a stable reference. */
  loadAssist?: () => Promise<Extension>;
}

interface Surface {
  view: EditorView;
  path: string;
  newState: (text: string) => EditorState;
  /** Other files that have been edited here, by path. */
  savedStates: Map<string, EditorState>;
  /** Texts reported to the page and not passed back yet: people type faster than it renders. */
  pendingTexts: string[];
}

const language = new Compartment();
const behaviour = new Compartment();
const assist = new Compartment();

/**
 * CodeMirror in a shadow tree: there it brings its styles as an adopted sheet, which `style-src 'self'` allows. In the
 * document itself it would write a <style> element, which that policy refuses.
 */
export default function EditorSurface(props: EditorSurfaceProps) {
  const { path, value, label, readOnly = false, problems, cursor, loadAssist } = props;
  const host = useRef<HTMLDivElement>(null);
  const surface = useRef<Surface>(null);
  const latest = useRef(props);
  latest.current = props;

  useEffect(() => {
    const element = host.current as HTMLDivElement;
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
    const base = buildBaseExtensions({
      showsProblems: latest.current.problems !== undefined,
      onSave: () => latest.current.onSave?.(),
      onChange: (text) => {
        const { onChange } = latest.current;
        if (!onChange) return;
        surface.current?.pendingTexts.push(text);
        onChange(text);
      },
    });
    const createEditorState = (doc: string) =>
      EditorState.create({ doc, extensions: [base, language.of([]), behaviour.of([]), assist.of([])] });
    const { path, value } = latest.current;
    const view = new EditorView({ state: createEditorState(value), parent: root, root });
    surface.current = { view, path, newState: createEditorState, savedStates: new Map(), pendingTexts: [] };
    return () => {
      view.destroy();
      surface.current = null;
    };
  }, []);

  // Before the effects that configure the state: it may be another one by then.
  useEffect(() => {
    const { current } = surface;
    if (!current) return;
    const { view, savedStates: left, newState } = current;
    if (current.path !== path) {
      left.set(current.path, view.state);
      current.path = path;
      current.pendingTexts = [];
      view.setState(left.get(path) ?? newState(value));
    }
    const place = current.pendingTexts.indexOf(value);
    current.pendingTexts = current.pendingTexts.slice(place + 1);
    if (place < 0 && view.state.doc.toString() !== value) view.dispatch(buildReplaceTransaction(view.state, value));
  }, [path, value]);

  useEffect(() => {
    let isCurrent = true;
    loadLanguage(path).then((extension) => {
      if (isCurrent) surface.current?.view.dispatch({ effects: language.reconfigure(extension) });
    });
    return () => {
      isCurrent = false;
    };
  }, [path]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another path has another state.
  useEffect(() => {
    surface.current?.view.dispatch({ effects: behaviour.reconfigure(buildEditableExtensions({ label, readOnly })) });
  }, [path, label, readOnly]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another path has another state.
  useEffect(() => {
    let isCurrent = true;
    loadAssist?.().then((extension) => {
      if (isCurrent) surface.current?.view.dispatch({ effects: assist.reconfigure(extension) });
    });
    return () => {
      isCurrent = false;
    };
  }, [path, loadAssist]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: places are those of the present text.
  useEffect(() => {
    const view = surface.current?.view;
    if (view) view.dispatch(buildProblemTransaction(view.state, problems ?? []));
  }, [path, problems]);

  useEffect(() => {
    const view = surface.current?.view;
    if (!view || !cursor) return;
    const line = view.state.doc.line(Math.min(cursor.line, view.state.doc.lines));
    const at = Math.min(line.from + (cursor.column ?? 1) - 1, line.to);
    view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: 'center' }) });
    view.focus();
  }, [cursor]);

  return <Stack ref={host} gap={0} miw={0} mih={0} />;
}
