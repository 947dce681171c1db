import type { TokenHasher } from '@gantry/auth';
import type { Sql } from '@gantry/postgres';
import type { RunEngine } from '@gantry/run-engine';
import type { ConnectionToolDeps } from '../connection-tools/connection-tool-deps';
import type { Definition } from '../workers/definition';
import type { CandidateDecisions } from './candidate-decisions';

export interface ApprovalDeps extends ConnectionToolDeps {
  engine: RunEngine;
  /** Definitions of workers that an agent calls. */
  runnables: { get(sql: Sql, workerUid: string, version: number): Promise<{ definition: Definition }> };
  /** Checks review links. */
  hasher: TokenHasher;
  /** Effects of decisions about candidates. */
  candidateDecisions: CandidateDecisions;
}
