/**
 * Lists the tools of agents as data: each tool is one operation of the HTTP API under a name that agents look for. Its
 * arguments and results are the operation's, and so are its permissions, limits and audit entries.
 */
import { CREATE_HINTS, DEPLOY_HINTS, defineTools, READ_HINTS, RUN_HINTS, type Tool, UPDATE_HINTS } from './tool';

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
  ...defineTools('overview', 'worker', {
    get_overview: {
      title: 'Workspace overview',
      description:
        'Worker and run counts, recent failures, how many approvals are waiting for a person, and upcoming scheduled runs.',
      operationId: 'systemOverview',
      hints: READ_HINTS,
      example: {},
    },
  }),
  ...defineTools('workers', 'worker', {
    list_workers: {
      title: 'List workers',
      description: 'Finds workers by text, tag, state or trigger. Start here to get a worker’s `id`.',
      operationId: 'listWorkers',
      hints: READ_HINTS,
      example: { q: 'invoice', status: 'active' },
    },
    get_worker: {
      title: 'Get a worker',
      description: 'A worker with its trigger, inputs, limits and health. To read its code, use `get_worker_files`.',
      operationId: 'getWorker',
      hints: READ_HINTS,
      example: { worker_id: 'invoice-sync' },
    },
    get_worker_files: {
      title: 'Read a worker’s code',
      description: 'The files of the current version, or of the version specified by `sha`.',
      operationId: 'listWorkerFiles',
      hints: READ_HINTS,
      example: { worker_id: 'invoice-sync' },
    },
    create_worker: {
      title: 'Create a worker',
      description:
        'Creates a worker from Python files; `main.py` must define `def run(...)` with the declared `inputs` as its parameters. The worker becomes active immediately; a cron trigger starts it automatically. If the worker has "network": "none" and no secrets, connections or packages, it can run immediately; otherwise `version_approval` is `waiting` until a person approves the code on the worker’s page.',
      operationId: 'createWorker',
      hints: RUN_HINTS,
      asksFirst: isUnattended,
      example: { name: 'Hello', inputs: [{ name: 'who', type: 'text' }], files: [{ path: 'main.py', content: HELLO }] },
    },
    update_worker: {
      title: 'Change a worker',
      description:
        'Changes the given fields of a worker, such as its name, trigger, inputs or limits. To change its code, use `update_worker_files`.',
      operationId: 'updateWorker',
      hints: DEPLOY_HINTS,
      without: ['files'],
      example: { worker_id: 'hello', schedule: '0 8 * * 1-5' },
    },
    update_worker_files: {
      title: 'Change a worker’s code',
      description:
        'Writes or deletes a worker’s files and saves the result as a new version. You can roll back to older versions.',
      operationId: 'writeWorkerFiles',
      hints: DEPLOY_HINTS,
      example: { worker_id: 'hello', files: [{ path: 'main.py', content: HELLO }], message: 'Greet by name' },
    },
    set_worker_state: {
      title: 'Pause, resume or archive a worker',
      description: 'Paused and archived workers can’t be started. Their history is kept.',
      operationId: 'pauseWorker',
      hints: DEPLOY_HINTS,
      choice: {
        argument: 'state',
        description: 'The new state',
        operations: { paused: 'pauseWorker', active: 'resumeWorker', archived: 'archiveWorker' },
      },
      example: { worker_id: 'hello', state: 'paused' },
    },
    run_worker: {
      title: 'Run a worker',
      description:
        'Starts a run and waits up to 50 seconds for it to end. Returns the run. If its `status` shows that it is still in progress, call `get_run` later. If the run waits for an approval, the tool asks the person through the client, if the client supports this.',
      operationId: 'startRun',
      hints: RUN_HINTS,
      waits: true,
      without: ['wait'],
      example: { worker_id: 'hello', inputs: { who: 'Ada' } },
    },
    start_conversation: {
      title: 'Start a conversation with an agent worker',
      description:
        'Works with workers whose `runner` is `agent` and that have either no inputs or a text input named `message`. Pass any other inputs in `inputs`. To send the worker a message, use `send_message`.',
      operationId: 'createWorkerConversation',
      hints: CREATE_HINTS,
      without: ['message', 'wait'],
      example: { worker_id: 'bookkeeper' },
    },
    send_message: {
      title: 'Write to an agent worker',
      description:
        'Sends a message in a conversation and waits up to 50 seconds for the run that replies to it; the agent also receives the earlier messages. The run’s `output` is the reply. If the run is still in progress, call `get_conversation` later.',
      operationId: 'sendWorkerMessage',
      hints: RUN_HINTS,
      waits: true,
      without: ['wait'],
      example: { worker_id: 'bookkeeper', conversation_id: 'wcv_5LmW', message: 'Which March invoices are unpaid?' },
    },
    get_conversation: {
      title: 'Get a conversation with an agent worker',
      description: 'The latest messages with their runs and replies.',
      operationId: 'getWorkerConversation',
      hints: READ_HINTS,
      example: { worker_id: 'bookkeeper', conversation_id: 'wcv_5LmW' },
    },
    list_examples: {
      title: 'List a worker’s examples',
      description: 'Sets of inputs for a worker, each with checks on the output. `evaluate_worker` runs the examples.',
      operationId: 'listExamples',
      hints: READ_HINTS,
      example: { worker_id: 'hello' },
    },
    save_example: {
      title: 'Add an example to a worker',
      description:
        'Adds an example based on inputs and checks, or on a finished run, whose output becomes the expected output. The checks are `equal`, `contains`, `schema`, `judge` (a model judges the output by the given instructions) and `fails`.',
      operationId: 'createExample',
      hints: CREATE_HINTS,
      asksFirst: always,
      example: {
        worker_id: 'hello',
        name: 'Greets Ada',
        inputs: { who: 'Ada' },
        checks: [{ kind: 'equal', path: '/greeting', value: 'Hello, Ada!' }],
      },
    },
    evaluate_worker: {
      title: 'Evaluate a version of a worker',
      description:
        'Runs a worker’s examples against one version, with the worker’s secrets and connections but without external writes, and judges the outputs. To get the results, call `get_evaluation` until the evaluation’s `status` is no longer `running`. Model calls cost money.',
      operationId: 'startEvaluation',
      hints: RUN_HINTS,
      example: { worker_id: 'hello' },
    },
    get_evaluation: {
      title: 'Get an evaluation',
      description: 'The evaluation’s progress, and the result of each check for each example.',
      operationId: 'getEvaluation',
      hints: READ_HINTS,
      example: { worker_id: 'hello', evaluation_id: 'eval_3fKp' },
    },
  }),
  ...defineTools('runs', 'worker', {
    list_runs: {
      title: 'List runs',
      description: 'Worker runs, newest first, filtered by worker, status, trigger or time.',
      operationId: 'listRuns',
      hints: READ_HINTS,
      example: { worker_id: 'invoice-sync', status: 'failed', limit: 10 },
    },
    get_run: {
      title: 'Read a run',
      description: 'A run’s status, inputs, output, steps, artifacts and cost, plus the error if the run failed.',
      operationId: 'getRun',
      hints: READ_HINTS,
      example: { run_id: 'run_1767225600abcdefghijkl' },
    },
    get_run_logs: {
      title: 'Read a run’s log',
      description: 'A run’s log lines in order. To get the next lines, pass the cursor from the previous response.',
      operationId: 'listRunLogs',
      hints: READ_HINTS,
      without: ['format'],
      example: { run_id: 'run_1767225600abcdefghijkl', limit: 100 },
    },
    cancel_run: {
      title: 'Cancel a run',
      description: 'Stops a run that hasn’t finished yet. Anything the run has done outside Gantry is not undone.',
      operationId: 'cancelRun',
      hints: UPDATE_HINTS,
      example: { run_id: 'run_1767225600abcdefghijkl' },
    },
    replay_run: {
      title: 'Run again',
      description: 'Starts a new run with the inputs of an earlier one.',
      operationId: 'replayRun',
      hints: RUN_HINTS,
      example: { run_id: 'run_1767225600abcdefghijkl' },
    },
    repair_run: {
      title: 'Repair a failed run',
      description:
        'Has a model read a failed run and propose a repaired version, which is then rehearsed. A person decides whether to use it; nothing is deployed automatically. To follow the progress, call `get_repair`.',
      operationId: 'repairRun',
      hints: RUN_HINTS,
      example: { run_id: 'run_1767225600abcdefghijkl', instructions: 'The supplier renamed the column on Monday' },
    },
    get_repair: {
      title: 'Get a repair',
      description: 'The progress of a run’s latest repair, with the explanation and the proposed candidate.',
      operationId: 'getRepair',
      hints: READ_HINTS,
      example: { run_id: 'run_1767225600abcdefghijkl' },
    },
  }),
  ...defineTools('workers', 'worker', {
    create_candidate: {
      title: 'Propose a version',
      description:
        'Rehearses a change to a worker against the worker’s latest runs without saving the change. While the candidate’s `version_approval` is `waiting`, the rehearsals wait for a person to approve the code on the candidate’s page. Read the report with `get_candidate`, then call `promote_candidate` or `drop_candidate`.',
      operationId: 'createCandidate',
      hints: RUN_HINTS,
      example: { worker_id: 'invoice-sync', files: [{ path: 'main.py', content: HELLO }], message: 'Greet everybody' },
    },
    get_candidate: {
      title: 'Get a candidate',
      description:
        'A proposed version with its rehearsal report: which runs give the same result and how the others differ.',
      operationId: 'getCandidate',
      hints: READ_HINTS,
      example: { worker_id: 'invoice-sync', candidate_id: 'cnd_5LmW' },
    },
    promote_candidate: {
      title: 'Promote a candidate',
      description: 'Makes a candidate the worker’s current version. Read the candidate’s report first.',
      operationId: 'promoteCandidate',
      hints: DEPLOY_HINTS,
      example: { worker_id: 'invoice-sync', candidate_id: 'cnd_5LmW' },
    },
    drop_candidate: {
      title: 'Drop a candidate',
      description: 'Withdraws a proposed version; its report is kept.',
      operationId: 'dropCandidate',
      hints: UPDATE_HINTS,
      example: { worker_id: 'invoice-sync', candidate_id: 'cnd_5LmW' },
    },
  }),
  ...defineTools('approvals', 'worker', {
    list_approvals: {
      title: 'List approvals',
      description: 'Approvals that are waiting for a person’s decision, and past decisions.',
      operationId: 'listApprovals',
      hints: READ_HINTS,
      example: { status: 'pending' },
    },
    decide_approval: {
      title: 'Decide on an approval',
      description:
        'Approves or rejects a request on behalf of the person whose credential is used. Use this tool only after that person has told you their decision. A rejection ends the run. If the approval has `calls`, approve it with a decision on each call. A refused call is not made; the agent receives the reason and continues. Corrected `arguments` replace those that the agent chose.',
      operationId: 'approve',
      hints: RUN_HINTS,
      example: { approval_id: 'apr_3pQz', verdict: 'approve', reason: 'checked with the customer' },
      choice: {
        argument: 'verdict',
        description: 'The decision',
        operations: { approve: 'approve', reject: 'reject' },
      },
    },
  }),
  ...defineTools('automations', 'automation', {
    list_automations: {
      title: 'List automations',
      description: 'Finds deployed automations by text or state.',
      operationId: 'listAutomations',
      hints: READ_HINTS,
      example: { q: 'report' },
    },
    run_automation: {
      title: 'Run an automation',
      description: 'Starts a run of a deployed automation and waits a few seconds for it to end.',
      operationId: 'runAutomation',
      hints: RUN_HINTS,
      example: { automationId: 'aut_4kTq', inputs: { month: '2026-01' } },
    },
    test_artifact: {
      title: 'Test an artifact',
      description: 'Runs an uploaded zip in the sandbox before it is deployed.',
      operationId: 'testArtifact',
      hints: RUN_HINTS,
      example: { artifactId: 'art_9sVb', inputs: { month: '2026-01' } },
    },
    deploy_automation: {
      title: 'Deploy an automation',
      description: 'Deploys a tested artifact as an automation with its own address.',
      operationId: 'deployAutomation',
      hints: RUN_HINTS,
      example: { artifactId: 'art_9sVb', name: 'Monthly report' },
    },
  }),
  ...defineTools('skills', 'skills', {
    search_skills: {
      title: 'Search skills',
      description: 'Finds published skills: Markdown instructions for agents.',
      operationId: 'searchSkills',
      hints: READ_HINTS,
      example: { q: 'release notes' },
    },
    get_skill: {
      title: 'Read a skill',
      description: 'A skill’s details and Markdown.',
      operationId: 'getSkill',
      hints: READ_HINTS,
      example: { slug: 'release-notes' },
    },
    publish_skill: {
      title: 'Publish a skill',
      description: 'Creates a skill from Markdown. Without `slug`, each call creates a new skill with an unused slug.',
      operationId: 'publishSkill',
      // Others may have read it before it is deleted.
      hints: { ...UPDATE_HINTS, idempotentHint: false, openWorldHint: true },
      example: { title: 'Release notes', body_md: '# Release notes\n\nList what changed for users.' },
    },
  }),
  ...defineTools('contexts', 'worker', {
    list_contexts: {
      title: 'List contexts',
      description: 'Sets of files that workers can read during their runs.',
      operationId: 'listContexts',
      hints: READ_HINTS,
      example: {},
    },
    read_context_file: {
      title: 'Read a context file',
      description: 'The text of one file.',
      operationId: 'getContextFile',
      hints: READ_HINTS,
      answersText: true,
      example: { name: 'handbook', path: 'refunds.md' },
    },
    write_context_file: {
      title: 'Write a context file',
      description: 'Writes one file as a new version of the context. Older versions are kept.',
      operationId: 'putContextFile',
      hints: UPDATE_HINTS,
      example: { name: 'handbook', path: 'refunds.md', content: '# Refunds\n' },
    },
  }),
  ...defineTools('connections', 'worker', {
    list_connections: {
      title: 'List connections',
      description:
        'Accounts, API keys and MCP servers that workers can use, with their state. Secrets are never shown.',
      operationId: 'listConnections',
      hints: READ_HINTS,
      example: { app: 'github' },
    },
    connect_app: {
      title: 'Connect an account',
      description:
        'Begins connecting an account from an external service. Send the person to `authorization_url`, where they must give consent within ten minutes. Enter keys only in the dashboard, never here.',
      operationId: 'createConnection',
      hints: { ...CREATE_HINTS, openWorldHint: true },
      fixed: { kind: 'oauth' },
      without: ['value', 'hosts', 'parameters'],
      example: { app: 'github', label: 'Team account' },
    },
  }),
];
