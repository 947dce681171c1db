/** The HTTP contract that the build generates from `openapi/`: one file per surface, and its types. */
import path from 'node:path';
import type * as automation from './generated/automation';
import type { operations as automationReceived } from './generated/automation-received';
import type * as skills from './generated/skills';
import type { operations as skillsReceived } from './generated/skills-received';
import type * as worker from './generated/worker';
import type { operations as workerReceived } from './generated/worker-received';

interface Types {
  worker: { paths: worker.paths; schemas: worker.components['schemas']; received: workerReceived };
  automation: {
    paths: automation.paths;
    schemas: automation.components['schemas'];
    received: automationReceived;
  };
  skills: { paths: skills.paths; schemas: skills.components['schemas']; received: skillsReceived };
}

export type Surface = keyof Types;

const getBundledSpecPath = (surface: Surface): string => path.resolve(__dirname, `../dist/${surface}.json`);

/** Paths of the bundled documents. */
export const openapiFiles: Record<Surface, string> = {
  worker: getBundledSpecPath('worker'),
  automation: getBundledSpecPath('automation'),
  skills: getBundledSpecPath('skills'),
};

const getPublishedSpecPath = (surface: Surface): string => path.resolve(__dirname, `../dist/published/${surface}.json`);

/** The published documents, with every status and header of each operation's responses. */
export const publishedFiles: Record<Surface, string> = {
  worker: getPublishedSpecPath('worker'),
  automation: getPublishedSpecPath('automation'),
  skills: getPublishedSpecPath('skills'),
};

export type SurfacePaths<S extends Surface> = Types[S]['paths'];
export type SurfaceSchemas<S extends Surface> = Types[S]['schemas'];
/** Requests by operationId, as a handler receives them: validated, with every default added. */
export type ReceivedRequests<S extends Surface> = Types[S]['received'];
