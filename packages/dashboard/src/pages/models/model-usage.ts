import type { WorkerSchemas } from '@gantry/sdk';

/** The cost of model calls in a month. */
export type ModelUsage = WorkerSchemas['ModelUsage'];

const monthFormat = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' });

/** @param month `2026-01` */
export const formatMonth = (month: string): string => monthFormat.format(new Date(`${month}-01`));
