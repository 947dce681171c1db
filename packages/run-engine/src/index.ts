export {
  type DependencyInstallation,
  expireInstallations,
  loadInstallation,
  openInstallation,
  type Reannounce,
} from './dependency-installations';
export {
  type DependencyLock,
  deleteDependencyRecords,
  listDependencyLocks,
  loadAnnouncedLocks,
} from './dependency-locks';
export { requestCancelOfIdleRuns } from './ending/cancel-runs';
export type { IdleRunResult, RunInTransaction } from './ending/end-run';
export * from './engine';
export * from './history';
export { addRunCost } from './ingest/add-run-cost';
export type { Usage } from './ingest/attempt-reports';
export type { OnRefused, RefusedRequest } from './ingest/refused-requests';
export type { LoadRunSecrets } from './job';
export type { FormatEvent, StreamFilter, StreamFormat } from './live/live-stream';
export { buildAttachmentKey, isDigest } from './object-keys';
export * from './queue/run-limits';
export * from './retention';
export { type DeleteRunRows, deleteRunsOfSubject, deleteRunsOfWorkspace } from './retention/delete-runs';
export * from './run';
export { type ContextChange, getAttempt, type ServiceEvent } from './run-events';
export * from './run-locks';
export { COUNTED_MAX, findRun, type RunArtifact } from './run-queries';
export { parseCreatedAt } from './run-row';
export * from './run-sql';
export type { PreparedTool, PrepareTool, RequestedTool } from './tools/prepared-tool';
export type { ToolOutcome } from './tools/tool-steps';
export type { ResumeOptions } from './waiting/resume-runs';
export type { OnSuspended, RequestedSuspension } from './waiting/suspend-run';
export { RunEndedError } from './waiting/watch-run';
