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

const buildDocumentPaths = (directory: string): Record<Surface, string> => ({
  worker: path.resolve(__dirname, directory, 'worker.json'),
  automation: path.resolve(__dirname, directory, 'automation.json'),
  skills: path.resolve(__dirname, directory, 'skills.json'),
});

/** Paths of the bundled documents. */
export const openapiFiles = buildDocumentPaths('../dist');

/** The published documents, with every status and header of each operation's responses. */
export const publishedFiles = buildDocumentPaths('../dist/published');

export type SurfacePaths<S extends Surface> = Types[S]['paths'];
export type SurfaceSchemas<S extends Surface> = Types[S]['schemas'];
/** Requests by operationId, as a handler receives them: validated, with every default added. */
export type ReceivedRequests<S extends Surface> = Types[S]['received'];
