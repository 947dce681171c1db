/** Warns of skills that an agent would not load, and of text that it would not get, when its worker is saved. */
import { decodeText, type FileTree, type TreeFile } from '../file-trees/file-tree';
import type { Definition } from './definition';

export interface SkillWarning {
  code: 'undeclared_skill' | 'hidden_character';
  path: string;
  line: number | null;
  message: string;
}

const SKILL_FILE = /\/SKILL\.md$/i;
/** Characters that the sandbox removes (files.py), except the joiners of an emoji, which hide nothing. */
const HIDDEN =
  /(?<!\p{Emoji}|\ufe0f)(?:\u200d|\ufe0f)|(?![\n\r\t]|\u200d|\ufe0f)[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

/** Lists the warnings in the order of the files. Only the first hidden character of a text has one. */
export function listSkillWarnings(
  { runner, entrypoint, skills }: Pick<Definition, 'runner' | 'entrypoint' | 'skills'>,
  tree: FileTree,
): SkillWarning[] {
  if (runner !== 'agent') return [];
  const instructions = new Set([entrypoint, ...skills.map(({ path }) => path)]);
  const folders = skills.map(({ path }) => path.slice(0, path.lastIndexOf('/') + 1));
  return tree.flatMap((file) => {
    if (instructions.has(file.path)) return listHiddenCharacters(file);
    // Bounded: 20 skills (SKILLS_MAX).
    const isLoadable = !SKILL_FILE.test(file.path) || folders.some((folder) => file.path.startsWith(folder));
    if (isLoadable) return [];
    const message = 'is not listed in skills, so the agent does not load it as a skill';
    return [{ code: 'undeclared_skill', path: file.path, line: null, message }];
  });
}

function listHiddenCharacters({ path, content }: TreeFile): SkillWarning[] {
  const text = decodeText(content)?.replace(/^\ufeff/, '') ?? '';
  const found = HIDDEN.exec(text);
  if (!found) return [];
  const line = text.slice(0, found.index).split('\n').length;
  const code = (found[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  const message = `contains U+${code}, an invisible character; the agent gets the text without such characters`;
  return [{ code: 'hidden_character', path, line, message }];
}

export const formatSkillWarning = ({ path, line, message }: SkillWarning): string =>
  `"${path.slice(0, 200)}"${line === null ? '' : `, line ${line}`}: ${message}`;
