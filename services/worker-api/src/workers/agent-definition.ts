/** Validates the settings of an agent worker beside its skill: its model, tools and bounds. */

import type { FieldProblem } from '@gantry/errors';
import { approvalRules, type JobAgent, reasoningEfforts } from '@gantry/events';
import { z } from 'zod';
import { agentSkills, toJobSkills } from './agent-skills';

export const SKILL = 'SKILL.md';
const TOOLS_MAX = 50;
const SCHEMA_CHARS_MAX = 16_000;

const agentTool = z.preprocess(
  (given) => (typeof given === 'string' ? { tool: given } : given),
  z.strictObject({
    tool: z.string().min(1).max(310),
    /** Whether a person sees its arguments first. */
    approve: z.enum(approvalRules).default('destructive'),
  }),
);

export const agentFields = {
  /** The published skill that its text is a copy of, with the SHA-256 of that text. */
  skill: z
    .string()
    .regex(/^[a-z0-9-]{1,128}@[0-9a-f]{64}$/, 'must have the form <slug>@<SHA-256>')
    .nullable()
    .default(null),
  /** Loaded by the agent when it needs them, beside its task. */
  skills: agentSkills,
  /** A name or an alias of the operator's; null: the default. */
  model: z.string().min(1).max(200).nullable().default(null),
  tools: z.array(agentTool).max(TOOLS_MAX).default([]),
  /** The temperature of its model calls; null: the provider's default. */
  temperature: z.number().min(0).max(2).nullable().default(null),
  reasoning: z.enum(reasoningEfforts).nullable().default(null),
  /** The choice of tools for its first call: `auto`, `none`, `required`, or one of its tools. */
  tool_choice: z.string().min(1).max(310).nullable().default(null),
  /** Answers of the model in a run. */
  max_turns: z.int().min(1).max(100).default(20),
  /** The budget for the models of one run. Code that calls models has it as well. */
  budget_usd: z.number().min(0).max(1_000_000).nullable().default(null),
  /** JSON Schema of the result; null: the agent's words. */
  output: z
    .record(z.string(), z.unknown())
    .refine(
      (schema) => JSON.stringify(schema).length <= SCHEMA_CHARS_MAX,
      `has more than ${SCHEMA_CHARS_MAX} characters`,
    )
    .nullable()
    .default(null),
};

const agentSettings = z.object(agentFields);
export type AgentFields = z.output<typeof agentSettings>;

export const EMPTY_AGENT_FIELDS: AgentFields = agentSettings.parse({});

/** A copy whose text was changed no longer counts as a copy. */
export function detachChangedSkill<Given extends Pick<AgentFields, 'skill'> & { entrypoint: string }>(
  definition: Given,
  files: { path: string; sha: string }[],
): Given {
  const { skill, entrypoint } = definition;
  const text = files.find(({ path }) => path === entrypoint);
  return skill === null || text?.sha === skill.split('@')[1] ? definition : { ...definition, skill: null };
}

/** Slugs of those that its task and its skills are copies of. */
export const listPublishedSkills = ({ skill, skills }: Pick<AgentFields, 'skill' | 'skills'>): string[] => [
  ...new Set([skill, ...skills.map((one) => one.skill)].flatMap((pin) => pin?.split('@')[0] ?? [])),
];

interface DeclaredNames {
  connections: string[];
  contexts: string[];
}

const OWN = ['python', 'http', 'ask_person'] as const;
const FORMS = `${OWN.join(', ')}, worker:<id>, context:<name>, <connection>.<tool> or <connection>.*`;

export function listAgentProblems(agent: AgentFields, declared: DeclaredNames): FieldProblem[] {
  const seen = new Set<string>();
  const choice = findToolChoiceProblem(agent, declared);
  const problems = agent.tools.flatMap(({ tool }, index) => {
    const read = resolveTool(tool, declared);
    const problem = seen.has(tool) ? 'appears twice' : typeof read === 'string' ? read : null;
    seen.add(tool);
    return problem === null ? [] : [{ path: `tools.${index}`, message: problem }];
  });
  return choice === null ? problems : [...problems, { path: 'tool_choice', message: choice }];
}

function findToolChoiceProblem({ tool_choice: choice, tools }: AgentFields, declared: DeclaredNames): string | null {
  if (choice === null || choice === 'auto' || choice === 'none') return null;
  if (choice === 'required') return tools.length ? null : '"required" needs at least one tool in tools';
  const read = tools.some(({ tool }) => tool === choice) ? resolveTool(choice, declared) : 'is missing';
  const isOne =
    typeof read !== 'string' && read.kind !== 'context' && (read.kind !== 'connection' || read.tool !== null);
  return isOne ? null : 'must be auto, none, required, or a single tool listed in tools';
}

/** As a run hands it to the executor. */
export const toJobAgent = (agent: AgentFields, skill: string, declared: DeclaredNames): JobAgent => ({
  skill,
  model: agent.model,
  maxTurns: agent.max_turns,
  output: agent.output,
  ...(agent.skills.length && { skills: toJobSkills(agent.skills) }),
  ...(agent.temperature !== null && { temperature: agent.temperature }),
  ...(agent.reasoning !== null && { reasoning: agent.reasoning }),
  ...(agent.tool_choice !== null && { toolChoice: agent.tool_choice }),
  tools: agent.tools.flatMap(({ tool, approve }) => {
    const read = resolveTool(tool, declared);
    return typeof read === 'string' ? [] : [{ ...read, approve }];
  }),
});

type AgentTool = JobAgent['tools'][number] extends infer Tool
  ? Tool extends unknown
    ? Omit<Tool, 'approve'>
    : never
  : never;

/** A string is what is wrong. */
function resolveTool(tool: string, { connections, contexts }: DeclaredNames): AgentTool | string {
  const own = OWN.find((name) => name === tool);
  if (own) return { kind: own };
  const [kind, name = ''] = [tool.slice(0, tool.indexOf(':')), tool.slice(tool.indexOf(':') + 1)];
  if (kind === 'worker') return name ? { kind, worker: name } : 'must name a worker, such as worker:monthly-report';
  if (kind === 'context') {
    return contexts.includes(name) ? { kind, context: name } : `names a context not listed in contexts: ${name}`;
  }
  // A name of either may have dots.
  const connection = connections.find((one) => tool.startsWith(`${one}.`) && tool.length > one.length + 1);
  if (connection === undefined) {
    return `must be one of ${FORMS}; a connection must be listed in connections`;
  }
  const named = tool.slice(connection.length + 1);
  return { kind: 'connection', connection, tool: named === '*' ? null : named };
}
