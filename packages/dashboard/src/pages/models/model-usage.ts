import type { WorkerSchemas } from '@gantry/sdk';

/** The cost of model calls in a month. */
export type ModelUsage = WorkerSchemas['ModelUsage'];

const monthName = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' });

/** @param month `2026-01` */
export const nameOfMonth = (month: string): string => monthName.format(new Date(`${month}-01`));
