import type { ReactNode } from 'react';
import type { WorkerRun } from '../../shell/api';
import type { Tone } from '../../ui/status-chip';
import type { LiveRun } from '../live-run';

type Step = WorkerRun['steps'][number];
type Approval = WorkerRun['approvals'][number];

/** The part of a run that its timeline needs. A share link's holder does not get the rest. */
export interface TimelineRun extends Pick<WorkerRun, 'id' | 'created_at' | 'started_at' | 'completed_at' | 'status'> {
  steps: (Pick<Step, 'ordinal' | 'kind' | 'name' | 'status' | 'error' | 'started_at' | 'finished_at'> &
    Partial<Pick<Step, 'result' | 'run_id' | 'approval_id'>>)[];
  approvals: (Pick<Approval, 'id' | 'status' | 'title' | 'requested_at' | 'decided_at'> &
    Partial<Pick<Approval, 'message' | 'decided_by' | 'reason' | 'expires_at' | 'calls'>>)[];
}

export interface TimelineSource {
  run: TimelineRun;
  live: Pick<LiveRun, 'statuses' | 'artifacts'>;
}

/** A period or a moment in a run. Times are epoch milliseconds. */
export interface Entry {
  id: string;
  name: string;
  tone: Tone;
  /** Its state or outcome. */
  word: string;
  from: number;
  /** Null while it goes on; `from` where it took no time. */
  to: number | null;
  detail?: ReactNode;
  /** A run that it called, whose own timeline is shown below it. */
  calledRunId?: string;
}

export interface EntryKind {
  name: string;
  word: string;
  icon: ReactNode;
  buildEntries: (source: TimelineSource) => Entry[];
}

export interface KindEntry extends Entry {
  kind: EntryKind;
}
