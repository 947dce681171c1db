/**
 * Lists the tools of agents as data: each tool is one operation of the HTTP API under a name that agents look for. Its
 * arguments and results are the operation's, and so are its permissions, limits and audit entries.
 */
import type { Surface } from '@gantry/openapi';

/** The set of the workers that are published as tools: no tool of the table below is in it. */
export const PUBLISHED = 'published';

export const TOOLSETS = [
  ...['workers', 'runs', 'approvals', 'automations', 'skills', 'contexts', 'connections', 'overview'],
  PUBLISHED,
] as const;
export type Toolset = (typeof TOOLSETS)[number];

/**
 * As the protocol has them, and true of the worst call: `destructive` changes or removes something that exists, or lets
 * code run; `openWorld` reaches things outside of Gantry, or shows something to others.
 */
export interface Hints {
  readOnly: boolean;
  destructive: boolean;
  idempotent: boolean;
  openWorld: boolean;
}

export interface Tool {
  name: string;
  title: string;
  description: string;
  toolset: Toolset;
  surface: Surface;
  operationId: string;
  hints: Hints;
  /** Arguments of a call. */
  example: Record<string, unknown>;
  /** Arguments that the tool sets itself, so that its caller is not asked for them. */
  fixed?: Record<string, unknown>;
  /** Arguments of the operation that are left out: they make no sense for an agent. */
  without?: string[];
  /** The answer is a file's text, not JSON. */
  answersText?: boolean;
  /** Waits for the run that it starts. */
  waits?: boolean;
  /** Whether the chat waits for its person before a call with these arguments. Default: where it is destructive. */
  asksFirst?: (given: Record<string, unknown>) => boolean;
  /** An argument that chooses between two operations, such as a verdict. */
  choice?: { argument: string; description: string; operations: Record<string, string> };
}

const READS: Hints = { readOnly: true, destructive: false, idempotent: true, openWorld: false };
const MAKES: Hints = { readOnly: false, destructive: false, idempotent: false, openWorld: false };
const CHANGES: Hints = { readOnly: false, destructive: true, idempotent: true, openWorld: false };
/** Triggers run what is changed. */
const DEPLOYS: Hints = { ...CHANGES, openWorld: true };
/** Code of the workspace does what it was written for, anywhere. */
export const RUNS: Hints = { readOnly: false, destructive: true, idempotent: false, openWorld: true };

const isManual = (trigger: unknown): boolean => {
  if (trigger === undefined || trigger === null || trigger === 'manual') return true;
  if (Array.isArray(trigger)) return trigger.every(isManual);
  return typeof trigger === 'object' && 'type' in trigger && trigger.type === 'manual';
};

/** Unreviewed code would run without a person. */
const isUnattended = ({ trigger, triggers, schedule }: Record<string, unknown>): boolean =>
  !(isManual(trigger) && isManual(triggers) && (schedule ?? null) === null);

const always = () => true;
const HELLO = 'def run(who="world"):\n    return {"greeting": f"Hello, {who}!"}\n';

export const TOOLS: readonly Tool[] = [
  {
    name: 'get_overview',
    title: 'Overview of the workspace',
    description: 'Numbers of workers and runs, what failed lately, what waits for people, cost of the month.',
    toolset: 'overview',
    surface: 'worker',
    operationId: 'systemOverview',
    hints: READS,
    example: {},
  },
  {
    name: 'list_workers',
    title: 'List workers',
    description: 'Finds workers by text, tag, state or trigger. Start here to learn a worker’s `id`.',
    toolset: 'workers',
    surface: 'worker',
    operationId: 'listWorkers',
    hints: READS,
    example: { q: 'invoice', status: 'active' },
  },
  {
    name: 'get_worker',
    title: 'Read a worker',
    description: 'A worker with its trigger, inputs, limits and health. Its code: `get_worker_files`.',
    toolset: 'workers',
    surface: 'worker',
    operationId: 'getWorker',
    hints: READS,
    example: { worker_id: 'invoice-sync' },
  },
  {
    name: 'get_worker_files',
    title: 'Read a worker’s code',
    description: 'The files of the current version, or of another one by `sha`.',
    toolset: 'workers',
    surface: 'worker',
    operationId: 'listWorkerFiles',
    hints: READS,
    example: { worker_id: 'invoice-sync' },
  },
  {
    name: 'create_worker',
    title: 'Create a worker',
    description:
      'Makes a worker from Python files; `main.py` has `def run(...)`, whose parameters are the declared `inputs`. It is active at once; a trigger of type cron starts it by itself. With "network": "none" and without secrets, connections and packages it can run at once; otherwise `version_approval` is `waiting` until a person approves the code on the worker’s page.',
    toolset: 'workers',
    surface: 'worker',
    operationId: 'createWorker',
    hints: RUNS,
    asksFirst: isUnattended,
    example: { name: 'Hello', inputs: [{ name: 'who', type: 'text' }], files: [{ path: 'main.py', content: HELLO }] },
  },
  {
    name: 'update_worker',
    title: 'Change a worker',
    description:
      'Changes the name, the trigger, the inputs, the limits or what else is given of a worker. Its code: `update_worker_files`.',
    toolset: 'workers',
    surface: 'worker',
    operationId: 'updateWorker',
    hints: DEPLOYS,
    without: ['files'],
    example: { worker_id: 'hello', schedule: '0 8 * * 1-5' },
  },
  {
    name: 'update_worker_files',
    title: 'Change a worker’s code',
    description: 'Writes or deletes files of a worker as a new version. Older versions stay and can be rolled back to.',
    toolset: 'workers',
    surface: 'worker',
    operationId: 'writeWorkerFiles',
    hints: DEPLOYS,
    example: { worker_id: 'hello', files: [{ path: 'main.py', content: HELLO }], message: 'Greet by name' },
  },
  {
    name: 'set_worker_state',
    title: 'Pause, resume or archive a worker',
    description: 'A paused or archived worker is started by nothing. Its history stays.',
    toolset: 'workers',
    surface: 'worker',
    operationId: 'pauseWorker',
    hints: DEPLOYS,
    choice: {
      argument: 'state',
      description: 'What it is to be',
      operations: { paused: 'pauseWorker', active: 'resumeWorker', archived: 'archiveWorker' },
    },
    example: { worker_id: 'hello', state: 'paused' },
  },
  {
    name: 'run_worker',
    title: 'Run a worker',
    description:
      'Starts a run and waits up to 50 seconds for its end. Answers with the finished run, or with one whose `status` says that it goes on: ask `get_run` later. One that waits for an approval asks the person through the client, if it can.',
    toolset: 'workers',
    surface: 'worker',
    operationId: 'startRun',
    hints: RUNS,
    waits: true,
    without: ['wait'],
    example: { worker_id: 'hello', inputs: { who: 'Ada' } },
  },
  {
    name: 'start_conversation',
    title: 'Begin a conversation with an agent worker',
    description:
      'For workers whose `runner` is `agent`, and whose inputs are none or have a text named `message`; `inputs` are its other ones. Write to it with `send_message`.',
    toolset: 'workers',
    surface: 'worker',
    operationId: 'createWorkerConversation',
    hints: MAKES,
    without: ['message', 'wait'],
    example: { worker_id: 'bookkeeper' },
  },
  {
    name: 'send_message',
    title: 'Write to an agent worker',
    description:
      'Sends a message in a conversation and waits up to 50 seconds for the run that answers it; the agent is given the messages before. The `output` of the run is the answer. One that goes on: ask `get_conversation` later.',
    toolset: 'workers',
    surface: 'worker',
    operationId: 'sendWorkerMessage',
    hints: RUNS,
    waits: true,
    without: ['wait'],
    example: { worker_id: 'bookkeeper', conversation_id: 'wcv_5LmW', message: 'Which invoices of March are unpaid?' },
  },
  {
    name: 'get_conversation',
    title: 'Read a conversation with an agent worker',
    description: 'The last messages with their runs and answers.',
    toolset: 'workers',
    surface: 'worker',
    operationId: 'getWorkerConversation',
    hints: READS,
    example: { worker_id: 'bookkeeper', conversation_id: 'wcv_5LmW' },
  },
  {
    name: 'list_examples',
    title: 'List a worker’s examples',
    description: 'Inputs of a worker with what has to be true of its output. `evaluate_worker` runs them.',
    toolset: 'workers',
    surface: 'worker',
    operationId: 'listExamples',
    hints: READS,
    example: { worker_id: 'hello' },
  },
  {
    name: 'save_example',
    title: 'Add an example to a worker',
    description:
      'Adds inputs and checks, or a run that has ended, whose output is then expected again. Checks are `equal`, `contains`, `schema`, `judge` (a model judges by instructions) and `fails`.',
    toolset: 'workers',
    surface: 'worker',
    operationId: 'createExample',
    hints: MAKES,
    asksFirst: always,
    example: {
      worker_id: 'hello',
      name: 'Greets Ada',
      inputs: { who: 'Ada' },
      checks: [{ kind: 'equal', path: '/greeting', value: 'Hello, Ada!' }],
    },
  },
  {
    name: 'evaluate_worker',
    title: 'Evaluate a version of a worker',
    description:
      'Runs the examples of a worker on one version, with its secrets and connections and without writing outside, and judges what comes out. Ask `get_evaluation` for the results until its `status` is no longer `running`. Models that it asks cost money.',
    toolset: 'workers',
    surface: 'worker',
    operationId: 'startEvaluation',
    hints: RUNS,
    example: { worker_id: 'hello' },
  },
  {
    name: 'get_evaluation',
    title: 'Read an evaluation',
    description: 'How far it has come, and for each example what each check found.',
    toolset: 'workers',
    surface: 'worker',
    operationId: 'getEvaluation',
    hints: READS,
    example: { worker_id: 'hello', evaluation_id: 'eval_3fKp' },
  },
  {
    name: 'list_runs',
    title: 'List runs',
    description: 'Runs of workers, newest first, by worker, status, trigger or time.',
    toolset: 'runs',
    surface: 'worker',
    operationId: 'listRuns',
    hints: READS,
    example: { worker_id: 'invoice-sync', status: 'failed', limit: 10 },
  },
  {
    name: 'get_run',
    title: 'Read a run',
    description: 'Status, inputs, output, steps, artifacts, cost, and the error of a run that failed.',
    toolset: 'runs',
    surface: 'worker',
    operationId: 'getRun',
    hints: READS,
    example: { run_id: 'run_1767225600abcdefghijkl' },
  },
  {
    name: 'get_run_logs',
    title: 'Read a run’s log',
    description: 'Lines of a run’s log in their order; pass the cursor of an answer for the lines after it.',
    toolset: 'runs',
    surface: 'worker',
    operationId: 'listRunLogs',
    hints: READS,
    without: ['format'],
    example: { run_id: 'run_1767225600abcdefghijkl', limit: 100 },
  },
  {
    name: 'cancel_run',
    title: 'Cancel a run',
    description: 'Stops a run that has not ended. What it did outside of Gantry is not taken back.',
    toolset: 'runs',
    surface: 'worker',
    operationId: 'cancelRun',
    hints: CHANGES,
    example: { run_id: 'run_1767225600abcdefghijkl' },
  },
  {
    name: 'replay_run',
    title: 'Run again',
    description: 'Starts a new run with the inputs of an earlier one.',
    toolset: 'runs',
    surface: 'worker',
    operationId: 'replayRun',
    hints: RUNS,
    example: { run_id: 'run_1767225600abcdefghijkl' },
  },
  {
    name: 'repair_run',
    title: 'Repair a failed run',
    description:
      'Lets a model read a failed run and propose a repaired version, which is rehearsed. A person decides about it; nothing is deployed by itself. Then `get_repair`.',
    toolset: 'runs',
    surface: 'worker',
    operationId: 'repairRun',
    hints: RUNS,
    example: { run_id: 'run_1767225600abcdefghijkl', instructions: 'The supplier renamed the column on Monday' },
  },
  {
    name: 'get_repair',
    title: 'Read a repair',
    description: 'How far the latest repair of a run has come, with its explanation and its candidate.',
    toolset: 'runs',
    surface: 'worker',
    operationId: 'getRepair',
    hints: READS,
    example: { run_id: 'run_1767225600abcdefghijkl' },
  },
  {
    name: 'create_candidate',
    title: 'Propose a version',
    description:
      'Rehearses a change of a worker against its last runs instead of saving it. While `version_approval` is `waiting`, its rehearsals wait for a person, who approves the code on its page. Read the report with `get_candidate`, then `promote_candidate` or `drop_candidate`.',
    toolset: 'workers',
    surface: 'worker',
    operationId: 'createCandidate',
    hints: RUNS,
    example: { worker_id: 'invoice-sync', files: [{ path: 'main.py', content: HELLO }], message: 'Greet everybody' },
  },
  {
    name: 'get_candidate',
    title: 'Read a candidate',
    description: 'A proposed version with the report of its rehearsals: which runs give the same, and what differs.',
    toolset: 'workers',
    surface: 'worker',
    operationId: 'getCandidate',
    hints: READS,
    example: { worker_id: 'invoice-sync', candidate_id: 'cnd_5LmW' },
  },
  {
    name: 'promote_candidate',
    title: 'Promote a candidate',
    description: 'Makes a candidate the version that runs from now on. Read its report first.',
    toolset: 'workers',
    surface: 'worker',
    operationId: 'promoteCandidate',
    hints: DEPLOYS,
    example: { worker_id: 'invoice-sync', candidate_id: 'cnd_5LmW' },
  },
  {
    name: 'drop_candidate',
    title: 'Drop a candidate',
    description: 'Takes back a proposed version; its report stays.',
    toolset: 'workers',
    surface: 'worker',
    operationId: 'dropCandidate',
    hints: CHANGES,
    example: { worker_id: 'invoice-sync', candidate_id: 'cnd_5LmW' },
  },
  {
    name: 'list_approvals',
    title: 'List approvals',
    description: 'What waits for a person’s decision, and what was decided.',
    toolset: 'approvals',
    surface: 'worker',
    operationId: 'listApprovals',
    hints: READS,
    example: { status: 'pending' },
  },
  {
    name: 'decide_approval',
    title: 'Decide an approval',
    description:
      'Approves or rejects on behalf of the person whose credential this is. Only after that person has said so. A rejection ends the run. Where the approval has `calls`, approve with a decision about each: a refused call is not made, and the agent goes on with the reason; corrected `arguments` replace those that the agent chose.',
    toolset: 'approvals',
    surface: 'worker',
    operationId: 'approve',
    hints: RUNS,
    example: { approval_id: 'apr_3pQz', verdict: 'approve', reason: 'checked with the customer' },
    choice: {
      argument: 'verdict',
      description: 'What was decided',
      operations: { approve: 'approve', reject: 'reject' },
    },
  },
  {
    name: 'list_automations',
    title: 'List automations',
    description: 'Finds deployed automations by text or state.',
    toolset: 'automations',
    surface: 'automation',
    operationId: 'listAutomations',
    hints: READS,
    example: { q: 'report' },
  },
  {
    name: 'run_automation',
    title: 'Run an automation',
    description: 'Starts a run of a deployed automation and waits some seconds for its end.',
    toolset: 'automations',
    surface: 'automation',
    operationId: 'runAutomation',
    hints: RUNS,
    example: { automationId: 'aut_4kTq', inputs: { month: '2026-01' } },
  },
  {
    name: 'test_artifact',
    title: 'Test an artifact',
    description: 'Runs an uploaded zip in the sandbox before it is deployed.',
    toolset: 'automations',
    surface: 'automation',
    operationId: 'testArtifact',
    hints: RUNS,
    example: { artifactId: 'art_9sVb', inputs: { month: '2026-01' } },
  },
  {
    name: 'deploy_automation',
    title: 'Deploy an automation',
    description: 'Gives a tested artifact an address of its own.',
    toolset: 'automations',
    surface: 'automation',
    operationId: 'deployAutomation',
    hints: RUNS,
    example: { artifactId: 'art_9sVb', name: 'Monthly report' },
  },
  {
    name: 'search_skills',
    title: 'Search skills',
    description: 'Finds published skills: instructions in Markdown for agents.',
    toolset: 'skills',
    surface: 'skills',
    operationId: 'searchSkills',
    hints: READS,
    example: { q: 'release notes' },
  },
  {
    name: 'get_skill',
    title: 'Read a skill',
    description: 'A skill with its Markdown.',
    toolset: 'skills',
    surface: 'skills',
    operationId: 'getSkill',
    hints: READS,
    example: { slug: 'release-notes' },
  },
  {
    name: 'publish_skill',
    title: 'Publish a skill',
    description: 'Makes a skill from Markdown. Without `slug` each call makes another skill, under a free one.',
    toolset: 'skills',
    surface: 'skills',
    operationId: 'publishSkill',
    // Others may have read it before it is deleted.
    hints: { ...CHANGES, idempotent: false, openWorld: true },
    example: { title: 'Release notes', body_md: '# Release notes\n\nList what changed for users.' },
  },
  {
    name: 'list_contexts',
    title: 'List contexts',
    description: 'File packs that workers read while they run.',
    toolset: 'contexts',
    surface: 'worker',
    operationId: 'listContexts',
    hints: READS,
    example: {},
  },
  {
    name: 'read_context_file',
    title: 'Read a file of a context',
    description: 'The text of one file.',
    toolset: 'contexts',
    surface: 'worker',
    operationId: 'getContextFile',
    hints: READS,
    answersText: true,
    example: { name: 'handbook', path: 'refunds.md' },
  },
  {
    name: 'write_context_file',
    title: 'Write a file of a context',
    description: 'Writes one file as a new version of the context. Older versions stay.',
    toolset: 'contexts',
    surface: 'worker',
    operationId: 'putContextFile',
    hints: CHANGES,
    example: { name: 'handbook', path: 'refunds.md', content: '# Refunds\n' },
  },
  {
    name: 'list_connections',
    title: 'List connections',
    description: 'Accounts, API keys and MCP servers that workers may use, with their state. None shows its secret.',
    toolset: 'connections',
    surface: 'worker',
    operationId: 'listConnections',
    hints: READS,
    example: { app: 'github' },
  },
  {
    name: 'connect_app',
    title: 'Connect an account',
    description:
      'Begins to connect an account of a service. Give the person `authorization_url`, where they consent within ten minutes. Keys are entered in the dashboard, never here.',
    toolset: 'connections',
    surface: 'worker',
    operationId: 'createConnection',
    hints: { ...MAKES, openWorld: true },
    fixed: { kind: 'oauth' },
    without: ['value', 'hosts', 'parameters'],
    example: { app: 'github', label: 'Team account' },
  },
];
