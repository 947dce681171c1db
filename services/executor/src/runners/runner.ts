/**
 * The interface between the protocol and the runners. A runner starts code of one kind and communicates with it; it
 * knows nothing of services, claims or leases. The protocol hands it jobs and receives the code's messages; it knows
 * nothing of processes. Another runner is another folder here.
 */
import type { Readable } from 'node:stream';
import type {
  InspectReply,
  InspectRequest,
  InstallationProgress,
  Job,
  LockedPackage,
  PrepareRequest,
  RecordedStep,
  RunError,
  SandboxInfo,
  StepReply,
  Suspension,
  ToolReply,
} from '@gantry/events';
import type { NegotiateLock } from '../dependencies/dependencies';
import type { NetworkRequest, RawResponse } from '../egress/network-request';
import type { FindRecordedResponse } from '../egress/rehearsed-request';

export type { FindRecordedResponse, NetworkRequest, RawResponse };

/** Limit of a failure's message; code's own messages are truncated to it. */
export const MESSAGE_CHARS_MAX = 4_000;

export interface Runner {
  /**
   * Prepares everything that the run needs on this machine, except a process.
   * @throws NotPreparedError for a problem that the owner of the run can fix
   */
  prepare(job: Job, hooks: PrepareHooks): Promise<PreparedRun>;
  /**
   * Installs the packages that a service has announced, and imports the announced code if there is room for it.
   * @param isStandby whether it stays imported, as long as this is repeated
   * @throws NotPreparedError for packages that cannot be installed, and other errors for code
   */
  prepareAhead(announcement: PrepareRequest, isStandby: boolean, hooks: InstallHooks): Promise<void>;
  /** Ends sandboxes with other code of the announced worker, between its runs. */
  endOutdated(announcement: PrepareRequest): void;
  /** Inspects an entrypoint without executing any of it. */
  inspect(request: InspectRequest): Promise<InspectReply>;
}

export interface InstallHooks {
  onProgress(progress: InstallationProgress): void;
  onInstalled(installed: { platform: string; packages: LockedPackage[] }): void;
}

export interface PrepareHooks {
  /** Logs the progress of a long operation in the run's log. */
  logProgress(text: string): void;
  /** Agrees with the service on the packages of the job's version: see LockRequest. Absent: nothing is locked. */
  agreeOnLock?: NegotiateLock;
  /** Called when the code has made a network request, or tried to. */
  onRequest(request: NetworkRequest): void;
  /** In a rehearsal, returns the recorded responses to requests that would write. */
  answerTo?: FindRecordedResponse;
}

export interface PreparedRun {
  /** Starts a process that prepares itself while it waits for the run; synchronous if one is ready already. */
  start(): RunProcess | Promise<RunProcess>;
  /**
   * Ends the run: its network is closed now, and its files are released once its process has exited. A
   * process that was not run to its end is killed.
   */
  close(): void;
}

export interface RunProcess {
  /** Returns true once no more messages can arrive from it. */
  isDead(): boolean;
  /** Stops the code at any point. The first reason counts. */
  kill(reason: string): void;
  /**
   * Never throws for anything that the code does. @throws NotStartedError
   * @param onResult called when the result is complete but the logs are not: another run may take the slot meanwhile
   */
  run(input: RunInput, hooks: RunHooks, onResult: () => void): Promise<RunResult>;
}

export interface RunInput {
  inputs: Record<string, unknown>;
  /** Values by name. */
  secrets: Record<string, string>;
  /** Steps recorded by earlier attempts. */
  steps: RecordedStep[];
  /** The code starts when this resolves with true, and never if it resolves with false. */
  canBegin: Promise<boolean>;
}

/** Every message that a run may send while in progress. All of them come from inside and are untrusted. */
export interface RunHooks {
  onStream(stream: 'stdout' | 'stderr', chunk: Buffer): void;
  onLog(level: string, text: string, fields: Record<string, unknown> | undefined): void;
  onProgress(fraction: number, message: string | null): void;
  onCost(usd: number, label: string | null): void;
  /** Called for text of an agent, a tool call or its result. `call` is the same id in a call and its result. */
  onAgent?(part: string, event: { name: string | null; text: string; call: string | null }): void;
  openArtifact(announcement: {
    name: string;
    contentType: string;
    size: number;
  }): Promise<ArtifactSink | { refused: string }>;
  /** Records a step. Resolves with the result for the code; @throws for a forged request. */
  onStep?(message: Record<string, unknown>): Promise<StepReply>;
  /** Calls a tool of a connection. Resolves with the reply to the code; @throws like onStep. */
  onTool?(message: Record<string, unknown>): Promise<ToolReply>;
  /** Calls several tools concurrently; the replies are in their order. @throws like onStep. */
  onTools?(message: Record<string, unknown>): Promise<{ answers: ToolReply[] } | { refused: string }>;
  /** Called when the run requests to be suspended: once accepted, it ends as suspended. @throws like onStep. */
  onSuspend?(message: unknown): { suspension: Suspension } | { refused: string };
  /** Receives a writeable context that the run has changed, as a zip. @throws for an undeclared context. */
  openContext?(announcement: { name: string; size: number }): ArtifactSink | { refused: string };
  /** Receives a file for a model, by its digest. `known`: it was uploaded before. @throws for a forged request. */
  openAttachment?(announcement: {
    sha256: string;
    contentType: string;
    size: number;
  }): Promise<ArtifactSink | { known: true } | { refused: string }>;
  /** Reads the files announced in the job, in that order. */
  openFile?(index: number): Promise<Readable>;
}

export interface ArtifactSink {
  /** Resolves when the sink is ready for more. */
  write(piece: Buffer): Promise<void> | void;
  /** @returns the reply to the run */
  end(): Promise<{ artifactId: string } | { kept: true } | { refused: string }>;
  abort(): void;
}

export interface RunResult {
  outcome: RunOutcome;
  usage: { wallMs: number; cpuMs: number; maxRssBytes: number; sandbox?: SandboxInfo };
  /** Resolves when its processes and files are removed from this machine. */
  gone: Promise<void>;
}

export type RunOutcome =
  /** JSON as the code produced it: neither parsed nor masked. */
  | { kind: 'returned'; json: Buffer }
  /** The run waits for this, and its process has exited cleanly. */
  | { kind: 'suspended'; suspension: Suspension }
  | { kind: 'out_of_time' }
  /** Worded for the owner of the run; not masked. */
  | {
      kind: 'failed';
      error: RunError;
      /** As reported by the code's process: the step that failed last, if there was one and none after it. */
      step?: unknown;
    };

/** The code has not started, and will not. */
export class NotStartedError extends Error {}

export class NotPreparedError extends Error {
  constructor(
    readonly code: RunError['code'],
    message: string,
  ) {
    super(message);
  }
}
