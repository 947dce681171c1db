import type { WorkerSchemas } from '@gantry/sdk';

type NewWorker = WorkerSchemas['NewWorker'];
type Definition = Pick<NewWorker, 'inputs' | 'outputs' | 'limits' | 'retry' | 'approvals' | 'tags'>;
type AgentDefinition = Pick<NewWorker, 'connections' | 'tools' | 'max_turns' | 'budget_usd' | 'output' | 'network'>;

type CronTrigger = { type: 'cron'; cron: string };
type EventTrigger = { type: 'event'; on: WorkerSchemas['TriggerEvent'][] };

/** Groups of templates in the gallery. */
export type TemplateCategory = 'reports' | 'data' | 'messages' | 'approvals' | 'monitoring' | 'agents';

/** A worker that runs unchanged, with the standard library alone; an agent, with the default model. */
export interface WorkerTemplate extends Definition, AgentDefinition {
  id: string;
  /** Absent: no category, as for the empty template. */
  category?: TemplateCategory;
  name: string;
  /** Description in one sentence. */
  about: string;
  /** None: it is started by hand. A schedule goes by the time zone of the person who makes it. */
  trigger?: CronTrigger | EventTrigger | { type: 'webhook' };
  /** None: Python. */
  runner?: 'agent';
  /** Content of its main.py, or of its SKILL.md. */
  code: string;
}

export const isAgent = ({ runner }: WorkerTemplate): boolean => runner === 'agent';
export const getEntryFile = (template: WorkerTemplate): string => (isAgent(template) ? 'SKILL.md' : 'main.py');
