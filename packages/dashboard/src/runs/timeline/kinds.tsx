/**
 * Kinds of entries in the timeline of a run. A new kind of event is a new row here: its entries are placed by their
 * times.
 */
import type { WorkerRun } from '../../shell/api';
import { fileSize } from '../../ui/format';
import {
  BoltIcon,
  CallIcon,
  ClockIcon,
  FileIcon,
  ModelIcon,
  PersonIcon,
  PlayIcon,
  SleepIcon,
  ToolIcon,
} from '../../ui/icons';
import { attemptsOf, waitsOf } from './attempts';
import type { Entry, Kind, KindEntry, TimelineRun, TimelineSource } from './entry';
import { ApprovalDetail, StepDetail } from './entry-detail';
import { askedModel, isModelStep } from './model-use';

type Step = TimelineRun['steps'][number];
type Approval = TimelineRun['approvals'][number];

const STEP_LOOKS: Record<Step['status'], Pick<Entry, 'tone' | 'word'>> = {
  pending: { tone: 'timeout', word: 'Waiting' },
  completed: { tone: 'success', word: 'Done' },
  failed: { tone: 'error', word: 'Failed' },
};

const APPROVAL_LOOKS: Record<WorkerRun['approvals'][number]['status'], Pick<Entry, 'tone' | 'word'>> = {
  pending: { tone: 'timeout', word: 'Waits for a decision' },
  approved: { tone: 'success', word: 'Approved' },
  rejected: { tone: 'error', word: 'Rejected' },
  expired: { tone: 'idle', word: 'Expired' },
};

const timeOf = (at: string | null): number | null => (at === null ? null : Date.parse(at));

const stepEntry = (step: Step): Entry => ({
  id: `step-${step.ordinal}`,
  name: isModelStep(step) ? `Model call: ${askedModel(step) ?? 'default model'}` : step.name,
  ...STEP_LOOKS[step.status],
  from: Date.parse(step.started_at),
  to: timeOf(step.finished_at),
  detail: <StepDetail step={step} />,
  ...(step.run_id && { calledRunId: step.run_id }),
});

const stepsOf =
  (isOfKind: (step: Step) => boolean) =>
  ({ run }: TimelineSource): Entry[] =>
    run.steps.filter(isOfKind).map(stepEntry);

const isOf = (kind: Step['kind']) => (step: Step) => step.kind === kind;
const isTool = (step: Step) => step.kind === 'tool' && !isModelStep(step);

const approvalEntry = (approval: Approval): Entry => ({
  id: `approval-${approval.id}`,
  name: approval.title,
  ...APPROVAL_LOOKS[approval.status],
  from: Date.parse(approval.requested_at),
  to: timeOf(approval.decided_at ?? (approval.status === 'expired' ? (approval.expires_at ?? null) : null)),
  detail: <ApprovalDetail approval={approval} />,
});

/** Among entries that begin at the same time, those of an earlier kind come first. */
export const KINDS: Kind[] = [
  { name: 'wait', word: 'Queue', icon: <ClockIcon />, entriesOf: waitsOf },
  { name: 'attempt', word: 'Code', icon: <PlayIcon />, entriesOf: attemptsOf },
  {
    name: 'approval',
    word: 'Approval',
    icon: <PersonIcon />,
    entriesOf: ({ run }) => run.approvals.map(approvalEntry),
  },
  { name: 'step', word: 'Step', icon: <BoltIcon />, entriesOf: stepsOf(isOf('step')) },
  { name: 'sleep', word: 'Sleep', icon: <SleepIcon />, entriesOf: stepsOf(isOf('sleep')) },
  { name: 'model', word: 'Model', icon: <ModelIcon />, entriesOf: stepsOf(isModelStep) },
  { name: 'tool', word: 'Tool', icon: <ToolIcon />, entriesOf: stepsOf(isTool) },
  { name: 'call', word: 'Call', icon: <CallIcon />, entriesOf: stepsOf(isOf('call')) },
  {
    name: 'artifact',
    word: 'File',
    icon: <FileIcon />,
    entriesOf: ({ live }) =>
      live.artifacts.flatMap(({ id, name, size, at }): Entry[] =>
        at === null
          ? []
          : [{ id: `artifact-${id}`, name, tone: 'success', word: `Saved, ${fileSize(size)}`, from: at, to: at }],
      ),
  },
];

/** Builds the entries of all kinds, ordered by their start. */
export const entriesOf = (source: TimelineSource): KindEntry[] =>
  KINDS.flatMap((kind) => kind.entriesOf(source).map((entry) => ({ ...entry, kind }))).sort(
    (one, other) => one.from - other.from,
  );
