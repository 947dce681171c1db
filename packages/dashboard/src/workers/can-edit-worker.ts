import type { Worker } from '../shell/api';

export const canEditWorker = ({ permissions, status }: Worker): boolean => permissions.edit && status !== 'archived';
