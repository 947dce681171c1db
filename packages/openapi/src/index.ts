/** The HTTP contract as the build makes it of `openapi/`: each surface in one file, and its types. */
import path from 'node:path';
import type * as automation from './generated/automation';
import type * as skills from './generated/skills';
import type * as worker from './generated/worker';

export type Surface = 'worker' | 'automation' | 'skills';

const bundled = (surface: Surface): string => path.resolve(__dirname, `../dist/${surface}.json`);

/** Where the bundled documents are. */
export const openapiFiles: Record<Surface, string> = {
  worker: bundled('worker'),
  automation: bundled('automation'),
  skills: bundled('skills'),
};

interface Documents {
  worker: { paths: worker.paths; schemas: worker.components['schemas']; operations: worker.operations };
  automation: {
    paths: automation.paths;
    schemas: automation.components['schemas'];
    operations: automation.operations;
  };
  skills: { paths: skills.paths; schemas: skills.components['schemas']; operations: skills.operations };
}

export type PathsOf<S extends Surface> = Documents[S]['paths'];
export type SchemasOf<S extends Surface> = Documents[S]['schemas'];
export type OperationsOf<S extends Surface> = Documents[S]['operations'];
