/**
 * All that the protocol and the runners know of each other. A runner starts code of one kind and speaks to it; it never hears
 * of services, claims or leases. The protocol hands it jobs and takes what the code says; it never hears of processes.
 * Another runner is another folder here.
 */
import type { Readable } from 'node:stream';
import type { InspectReply, InspectRequest, Job, RecordedStep, RunError, StepReply, Suspension } from '@gantry/events';

export interface Runner {
  /**
   * Has everything on this machine that the run needs, short of a process.
   * @throws NotPrepared where the person whose run it is can do something about it
   */
  prepare(job: Job, hooks: PrepareHooks): Promise<PreparedRun>;
  /** Looks at an entrypoint without executing anything of it. */
  inspect(request: InspectRequest): Promise<InspectReply>;
}

export interface PrepareHooks {
  /** Progress of something that takes long, for the run's log. */
  say(text: string): void;
  /** The code wanted to connect to a place that is closed to it. */
  onDenied(target: string): void;
}

export interface PreparedRun {
  /** A process that makes itself ready while it waits for the run: at once if one is ready already. */
  start(): RunProcess | Promise<RunProcess>;
  /**
   * Nothing more is wanted of the run: it has no network from now on, and its files are let go of once its process is gone. A
   * process that was not run to its end is killed.
   */
  close(): void;
}

export interface RunProcess {
  /** True once nothing can come from it any more. */
  isDead(): boolean;
  /** Stops the code, wherever it is. The first reason stands. */
  kill(reason: string): void;
  /**
   * Never throws for what the code does. @throws NotBegun
   * @param onAnswer the answer is here and the logs are not whole yet: another run may take the slot meanwhile
   */
  run(given: GivenToRun, hooks: RunHooks, onAnswer: () => void): Promise<RunResult>;
}

export interface GivenToRun {
  inputs: Record<string, unknown>;
  /** Values by name. */
  secrets: Record<string, string>;
  /** Recorded by earlier attempts. */
  steps: RecordedStep[];
  /** The code begins when this resolves with true, and never if it resolves with false. */
  mayBegin: Promise<boolean>;
}

/** Everything that a run may say and ask for while it goes on. It comes from inside and is not to be trusted. */
export interface RunHooks {
  onStream(stream: 'stdout' | 'stderr', chunk: Buffer): void;
  onLog(level: string, text: string, fields: Record<string, unknown> | undefined): void;
  onProgress(fraction: number, message: string | null): void;
  onCost(usd: number, label: string | null): void;
  openArtifact(announced: {
    name: string;
    contentType: string;
    size: number;
  }): Promise<ArtifactSink | { refused: string }>;
  /** Records a step. Resolves with what the code gets to see; @throws for what no honest program says. */
  onStep?(asked: Record<string, unknown>): Promise<StepReply>;
  /** The run is to wait for this: once it is accepted, the run ends as suspended. @throws as onStep does. */
  onSuspend?(asked: unknown): { suspension: Suspension } | { refused: string };
  /** A writeable context that the run has changed, as a zip. @throws for one that it was not given. */
  openContext?(announced: { name: string; size: number }): ArtifactSink | { refused: string };
  /** The bytes of the files announced in the job, in that order. */
  openFile?(index: number): Promise<Readable>;
}

export interface ArtifactSink {
  /** Resolves when more may come. */
  write(piece: Buffer): Promise<void> | void;
  /** @returns the answer for the run */
  end(): Promise<{ artifactId: string } | { kept: true } | { refused: string }>;
  abort(): void;
}

export interface RunResult {
  outcome: RunOutcome;
  usage: { wallMs: number; cpuMs: number; maxRssBytes: number };
  /** Resolves when nothing of the run is left on this machine. */
  gone: Promise<void>;
}

export type RunOutcome =
  /** JSON as the code wrote it: neither parsed nor masked. */
  | { kind: 'returned'; json: Buffer }
  /** It waits for this, and its process has ended in good order. */
  | { kind: 'suspended'; suspension: Suspension }
  | { kind: 'out_of_time' }
  /** In the words of the people whose run it was; not masked. */
  | { kind: 'failed'; error: RunError };

/** The code has not begun, and will not. */
export class NotBegun extends Error {}

export class NotPrepared extends Error {
  constructor(
    readonly code: RunError['code'],
    message: string,
  ) {
    super(message);
  }
}
