/** Reasons that the host kills a run for, as its outcome carries them. */
export const WALL_LIMIT = 'wall time limit';
export const MEMORY_LIMIT = 'memory limit';
