/** Completion and explanations for Python: what pyright knows, and the inputs and secrets that a worker declares. */
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { pythonLanguage } from '@codemirror/lang-python';
import type { EditorState, Extension } from '@codemirror/state';
import { type EditorView, hoverTooltip, type Tooltip } from '@codemirror/view';
import type { CompletionItem, Pyright } from './type-check/pyright';

interface DeclaredNames {
  inputs: string[];
  secrets: string[];
}

export interface PythonFile {
  path: string;
  /** Resolves once pyright has started; null where it does not run. */
  getPyright: () => Promise<Pyright | null>;
}

/** Each looks back from the cursor within its line. */
const IN_SECRET = /\b(?:secrets|environ)\[["'][A-Z0-9_]*$/;
const IN_RUN = /^(?:async\s+)?def\s+run\([^)]*$/;
/** Only the types of the code determine completions here; other names are completed by the language itself. */
const AFTER_DOT = /[\w)\]}"']\.\w{0,100}$/;
const IN_IMPORT = /^\s*(?:from|import)\s[\w., ]*$/;
const WORD = /\w{0,100}$/;

/** Kinds of the Language Server Protocol: a method and a function. */
const CALLABLE_KINDS = [2, 3];

export function buildPythonAssist(declared: DeclaredNames, { path, getPyright }: PythonFile): Extension {
  const secrets = declared.secrets.map((label) => ({ label, type: 'constant', detail: 'secret' }));
  const parameters = [
    ...declared.inputs.map((label) => ({ label, type: 'variable', detail: 'input' })),
    { label: 'context', type: 'variable', detail: 'Context' },
  ];

  async function complete(at: CompletionContext): Promise<CompletionResult | null> {
    const line = at.state.doc.lineAt(at.pos);
    const before = line.text.slice(0, at.pos - line.from);
    const from = at.pos - (WORD.exec(before)?.[0].length ?? 0);
    const toResult = (options: Completion[]): CompletionResult => ({ from, options, validFor: /^\w*$/ });
    if (IN_SECRET.test(before)) return toResult(secrets);
    if (IN_RUN.test(before)) return toResult(parameters);
    if (!AFTER_DOT.test(before) && !IN_IMPORT.test(before)) return null;
    const pyright = await getPyright();
    if (!pyright || at.aborted) return null;
    const items = await pyright.complete(path, at.state.doc.toString(), toPosition(at.state, at.pos));
    return at.aborted ? null : toResult(items.map((item) => toCompletion(item, pyright, IN_IMPORT.test(before))));
  }

  async function loadHoverTooltip(view: EditorView, pos: number): Promise<Tooltip | null> {
    const pyright = await getPyright();
    const text = await pyright?.explain(path, view.state.doc.toString(), toPosition(view.state, pos));
    if (!text) return null;
    const word = view.state.wordAt(pos);
    return {
      pos: word?.from ?? pos,
      end: word?.to ?? pos,
      above: true,
      create: () => ({ dom: renderHoverTooltip(text) }),
    };
  }

  return [pythonLanguage.data.of({ autocomplete: complete }), hoverTooltip(loadHoverTooltip)];
}

function toPosition({ doc }: EditorState, pos: number) {
  const line = doc.lineAt(pos);
  return { line: line.number - 1, character: pos - line.from };
}

function toCompletion(item: CompletionItem, pyright: Pyright, isImport: boolean): Completion {
  const isCallable = CALLABLE_KINDS.includes(item.kind ?? 0);
  return {
    label: item.label,
    // Names that begin with an underscore are rarely wanted.
    boost: item.label.startsWith('_') ? -50 : 0,
    apply: isCallable && !isImport ? `${item.label}(` : item.label,
    info: async () => {
      const text = await pyright.describe(item);
      return text ? renderHoverTooltip(text) : null;
    },
  };
}

/** @param text the signature and, after an empty line, its description */
function renderHoverTooltip(text: string): HTMLElement {
  const dom = document.createElement('div');
  dom.className = 'cm-explained';
  const [signature = '', ...words] = text.trim().split('\n\n');
  const code = document.createElement('code');
  code.textContent = signature;
  const about = document.createElement('p');
  about.textContent = words.join('\n\n');
  dom.append(code, about);
  return dom;
}
