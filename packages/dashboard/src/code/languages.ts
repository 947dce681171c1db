import { indentUnit } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';

const loaders: Record<string, () => Promise<Extension>> = {
  py: () => import('@codemirror/lang-python').then(({ python }) => [python(), indentUnit.of('    ')]),
  json: () => import('@codemirror/lang-json').then(({ json }) => json()),
  yaml: () => import('@codemirror/lang-yaml').then(({ yaml }) => yaml()),
  md: () => import('@codemirror/lang-markdown').then(({ markdown }) => [markdown(), EditorView.lineWrapping]),
  txt: async () => EditorView.lineWrapping,
};

const ALIASES: Record<string, string> = { pyi: 'py', yml: 'yaml', markdown: 'md' };

const PLAIN: Extension = [];

/** Loads the language of a file by its extension; each is fetched on first use. */
export async function loadLanguage(path: string): Promise<Extension> {
  const end = path.slice(path.lastIndexOf('.') + 1).toLowerCase();
  const load = loaders[ALIASES[end] ?? end];
  return load ? load() : PLAIN;
}
