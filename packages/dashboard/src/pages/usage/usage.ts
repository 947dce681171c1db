import type { WorkerSchemas } from '@gantry/api-client';

/** What a month has used. */
export type Usage = WorkerSchemas['Usage'];
