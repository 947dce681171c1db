import type { WorkerSchemas } from '@gantry/sdk';

/** Usage of a month. */
export type Usage = WorkerSchemas['Usage'];
