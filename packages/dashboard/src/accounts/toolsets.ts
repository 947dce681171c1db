import type { WorkerSchemas } from '@gantry/sdk';

export type Toolset = WorkerSchemas['Toolset'];

/** Names of the toolsets that tokens and apps are restricted to. */
export const TOOLSET_LABELS: Record<Toolset, string> = {
  workers: 'Workers',
  runs: 'Runs',
  approvals: 'Approvals',
  automations: 'Automations',
  skills: 'Skills',
  contexts: 'Contexts',
  connections: 'Connections',
  overview: 'Overview',
  published: 'Published workers',
};
