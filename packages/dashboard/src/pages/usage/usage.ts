import type { WorkerSchemas } from '@gantry/api-client';

/** Usage of a month. */
export type Usage = WorkerSchemas['Usage'];
