export * from './last-outcomes';
export * from './log-lines';
export * from './recent-runs';
export * from './requests';
export * from './run-extras';
export * from './run-pages';
export type { ShownStep } from './shown-steps';
export * from './subject-log';
export * from './subject-stats';
