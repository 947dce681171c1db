/** The host's reasons for killing a run, as reported in its outcome. */
export const WALL_LIMIT = 'wall time limit';
export const MEMORY_LIMIT = 'memory limit';
export const CHANNEL_CLOSED = 'it closed its control channel';
