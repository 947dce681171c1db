/** Skills that an agent loads when it needs them: folders of its worker, each with a SKILL.md that describes it. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { findPathProblem, toCollisionKey } from '@gantry/archive';
import { type FieldProblem, invalid } from '@gantry/errors';
import { z } from 'zod';
import { toPlainText } from '../connections/request-template';
import { decodeText, type FileTree } from '../file-trees/file-tree';
import { DESCRIPTION_CHARS_MAX, readSkillHeader, type SkillHeader } from './skill-header';

const SKILLS_MAX = 20;
const TEXT_BYTES_MAX = 40_000;
/** Every question to the model has them: twenty of the longest in ASCII. */
const DESCRIPTIONS_BYTES_MAX = SKILLS_MAX * DESCRIPTION_CHARS_MAX;
const FILE = '/SKILL.md';

const PINNED = /^[a-z0-9-]{1,64}@[0-9a-f]{64}$/;

const skillPath = z
  .string()
  .transform((path) => (path.endsWith(FILE) ? path : path.replace(/\/$/, '') + FILE))
  .superRefine((path, context) => {
    const problem = findPathProblem(path);
    if (problem) context.addIssue({ code: 'custom', message: `"${path.slice(0, 200)}" ${problem}` });
  });

const agentSkill = z.preprocess(
  (skill) => (typeof skill === 'string' ? { path: skill } : skill),
  z.strictObject({
    /** The path of its SKILL.md. */
    path: skillPath,
    /** The published skill that this file is a copy of, with the SHA-256 of the text. */
    skill: z.string().regex(PINNED, 'must have the form <slug>@<SHA-256>').nullable().default(null),
    /** The version of the published skill. */
    version: z.int().min(1).nullable().default(null),
    // Read from the file: those that a request has count only where a copy has no description of its own.
    name: z.string().default(''),
    description: z.string().max(DESCRIPTION_CHARS_MAX).default(''),
    hash: z.string().default(''),
  }),
);

export const agentSkills = z.array(agentSkill).max(SKILLS_MAX).default([]);

export type AgentSkill = z.output<typeof agentSkill>;

export interface SkillProblem {
  /** The index of the skill in the definition. */
  index: number;
  path: string;
  line: number | null;
  message: string;
}

interface DescribedSkills {
  skills: AgentSkill[];
  problems: SkillProblem[];
}

/** Those with a problem are as they were. */
export async function readSkills(skills: readonly AgentSkill[], tree: FileTree): Promise<DescribedSkills> {
  const names = new Map<string, string>();
  const problems: SkillProblem[] = [];
  const described: AgentSkill[] = [];
  for (const [index, skill] of skills.entries()) {
    const read = readSkill(skill, tree);
    const other = 'skill' in read ? names.get(read.skill.name) : undefined;
    if ('skill' in read) names.set(read.skill.name, skill.path);
    described.push('skill' in read ? read.skill : skill);
    const found = 'skill' in read ? [] : read.problems;
    if (other !== undefined) found.push({ line: 1, message: `it has the same name as "${other}"` });
    problems.push(...found.map((problem) => ({ index, path: skill.path, ...problem })));
    await nextTurn();
  }
  const bytes = described.reduce((sum, { description }) => sum + Buffer.byteLength(description), 0);
  if (bytes > DESCRIPTIONS_BYTES_MAX) {
    const message = `the descriptions total ${bytes} bytes; the limit is ${DESCRIPTIONS_BYTES_MAX}`;
    problems.push({ index: 0, path: skills[0]?.path ?? '', line: null, message });
  }
  return { skills: described, problems };
}

/**
 * The definition with the names, descriptions and hashes of its skills, as its files have them.
 * @throws AppError 400 naming each skill that is wrong with its file and line
 */
export async function describeSkills<Given extends { skills: AgentSkill[] }>(
  definition: Given,
  tree: FileTree,
): Promise<Given> {
  const { skills, problems } = await readSkills(definition.skills, tree);
  if (problems.length) throw invalid(problems.map(toFieldProblem), 'bad_skill');
  return { ...definition, skills };
}

const toFieldProblem = ({ index, path, line, message }: SkillProblem): FieldProblem => ({
  path: `skills.${index}`,
  message: `"${path.slice(0, 200)}"${line === null ? '' : `, line ${line}`}: ${message}`,
});

type ReadSkillResult = { skill: AgentSkill } | { problems: { line: number | null; message: string }[] };

function readSkill(skill: AgentSkill, tree: FileTree): ReadSkillResult {
  const file = tree.find(({ path }) => path === skill.path);
  if (!file) {
    const similar = tree.find(({ path }) => toCollisionKey(path) === toCollisionKey(skill.path));
    return toProblemResult(`there is no file at this path${similar ? `; a similar path is "${similar.path}"` : ''}`);
  }
  if (file.size > TEXT_BYTES_MAX) {
    return toProblemResult(
      `it is ${file.size} bytes; the limit is ${TEXT_BYTES_MAX}; move some text to other files in the same folder`,
    );
  }
  const text = decodeText(file.content);
  if (text === null) return toProblemResult('it is not UTF-8 text');
  const { header, problems } = readSkillHeader(text);
  const hash = file.sha;
  const [slug = '', pinned] = skill.skill?.split('@') ?? [];
  if (pinned === file.sha) return { skill: { ...skill, ...buildCopyHeader(slug, header, skill), hash } };
  if (problems.length) return { problems };
  const { name = '', description = '' } = header;
  return { skill: { path: skill.path, skill: null, version: null, name, description, hash } };
}

const toProblemResult = (message: string): ReadSkillResult => ({ problems: [{ line: null, message }] });

/** A published text need not have any: it is called by its slug, and described as where it was published. */
const buildCopyHeader = (name: string, header: Partial<SkillHeader>, skill: AgentSkill): SkillHeader => ({
  name,
  description: header.description ?? (toPlainText(skill.description) || name),
});

export function listSkillListProblems(skills: readonly AgentSkill[], entrypoint: string): FieldProblem[] {
  return skills.flatMap(({ path }, index) => {
    // Bounded: 20 skills (SKILLS_MAX).
    const isTwice = skills.findIndex((one) => one.path === path) < index;
    // Bounded: 20 skills (SKILLS_MAX).
    const outer = skills.find((one) => one.path !== path && path.startsWith(`${toFolder(one.path)}/`));
    const nested = outer ? `is inside the folder of "${outer.path.slice(0, 200)}"` : null;
    const message = isTwice ? 'appears twice' : path === entrypoint ? "is already the agent's task" : nested;
    return message === null ? [] : [{ path: `skills.${index}`, message: `"${path.slice(0, 200)}" ${message}` }];
  });
}

const toFolder = (path: string): string => path.slice(0, -FILE.length);

/** As a run hands them to the executor. */
export const toJobSkills = (skills: readonly AgentSkill[]) =>
  skills.map(({ name, description, path }) => ({ name, description, folder: toFolder(path) }));

/** As worker.yaml has them: what the file itself has is left out. */
export const toManifestSkills = (skills: readonly AgentSkill[]) =>
  skills.map(({ path, skill, version, description }) =>
    skill === null ? path : { path, skill, ...(version !== null && { version }), description },
  );
