import type { WorkerSchemas } from '@gantry/sdk';

/** The usage of a month. */
export type Usage = WorkerSchemas['Usage'];
