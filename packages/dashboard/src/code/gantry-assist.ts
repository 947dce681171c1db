/** Completion and explanations for code of workers: the members of `context`, and the names that this worker declares. */
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { pythonLanguage } from '@codemirror/lang-python';
import type { Extension } from '@codemirror/state';
import { type EditorView, hoverTooltip, type Tooltip } from '@codemirror/view';
import { CONTEXT_MEMBERS, GANTRY_NAMES, type GantryName } from './gantry-types';

export interface Declared {
  inputs: string[];
  secrets: string[];
}

const optionOf = ({ name, type, about }: GantryName): Completion => ({
  label: name,
  type: type.startsWith('(') ? 'method' : 'property',
  info: type.startsWith('(') ? `${name}${type}\n\n${about}` : `${name}: ${type}\n\n${about}`,
  apply: type.startsWith('(') ? `${name}(` : name,
});

const members = CONTEXT_MEMBERS.map(optionOf);
const names = GANTRY_NAMES.map((one) => ({ ...optionOf(one), apply: one.name }));

/** Each looks back from the cursor within its line. */
const AFTER_CONTEXT = /\b(?:context|ctx)\.\w*$/;
const AFTER_IMPORT = /^\s*from\s+gantry\s+import\s[\w, ]*$/;
const IN_SECRET = /\b(?:secrets|environ)\[["'][A-Z0-9_]*$/;
const IN_RUN = /^(?:async\s+)?def\s+run\([^)]*$/;
const WORD = /\w{0,100}$/;

export function gantryAssist(declared: Declared): Extension {
  const secrets = declared.secrets.map((label) => ({ label, type: 'constant', detail: 'secret' }));
  const parameters = [
    ...declared.inputs.map((label) => ({ label, type: 'variable', detail: 'input' })),
    { label: 'context', type: 'variable', detail: 'Context' },
  ];

  function complete(at: CompletionContext): CompletionResult | null {
    const line = at.state.doc.lineAt(at.pos);
    const before = line.text.slice(0, at.pos - line.from);
    const from = at.pos - (WORD.exec(before)?.[0].length ?? 0);
    const answer = (options: Completion[]): CompletionResult => ({ from, options, validFor: /^\w*$/ });
    if (AFTER_CONTEXT.test(before)) return answer(members);
    if (AFTER_IMPORT.test(before)) return answer(names);
    if (IN_SECRET.test(before)) return answer(secrets);
    if (IN_RUN.test(before)) return answer(parameters);
    return null;
  }

  return [pythonLanguage.data.of({ autocomplete: complete }), hoverTooltip(explain)];
}

function explain(view: EditorView, pos: number): Tooltip | null {
  const line = view.state.doc.lineAt(pos);
  const at = pos - line.from;
  const start = at - (WORD.exec(line.text.slice(0, at))?.[0].length ?? 0);
  const name = /^\w+/.exec(line.text.slice(start))?.[0];
  if (!name) return null;
  const isMember = AFTER_CONTEXT.test(line.text.slice(0, start));
  const found = (isMember ? CONTEXT_MEMBERS : GANTRY_NAMES).find((one) => one.name === name);
  return found
    ? { pos: line.from + start, end: line.from + start + name.length, above: true, create: () => draw(found) }
    : null;
}

function draw({ name, type, about }: GantryName) {
  const dom = document.createElement('div');
  dom.className = 'cm-explained';
  const signature = document.createElement('code');
  signature.textContent = type.startsWith('(') ? `${name}${type}` : `${name}: ${type}`;
  const words = document.createElement('p');
  words.textContent = about;
  dom.append(signature, words);
  return { dom };
}
