/**
 * Kinds of entries in the timeline of a run. A new kind of event is a new row here: its entries are placed by their
 * times.
 */
import { APPROVAL_STATUS_DISPLAYS } from '../../approvals/approval-status';
import { formatFileSize } from '../../ui/format';
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
import { buildAttemptEntries, buildWaitEntries } from './attempts';
import type { Entry, EntryKind, KindEntry, TimelineRun, TimelineSource } from './entry';
import { ApprovalDetail, StepDetail } from './entry-detail';
import { getRequestedModel, isModelStep } from './model-call-usage';

type Step = TimelineRun['steps'][number];
type Approval = TimelineRun['approvals'][number];

const STEP_STATUS_DISPLAYS: Record<Step['status'], Pick<Entry, 'tone' | 'word'>> = {
  pending: { tone: 'timeout', word: 'Waiting' },
  completed: { tone: 'success', word: 'Done' },
  failed: { tone: 'error', word: 'Failed' },
};

const parseTime = (at: string | null): number | null => (at === null ? null : Date.parse(at));

const toStepEntry = (step: Step): Entry => ({
  id: `step-${step.ordinal}`,
  name: isModelStep(step) ? `Model call: ${getRequestedModel(step) ?? 'default model'}` : step.name,
  ...STEP_STATUS_DISPLAYS[step.status],
  from: Date.parse(step.started_at),
  to: parseTime(step.finished_at),
  detail: <StepDetail step={step} />,
  ...(step.run_id && { calledRunId: step.run_id }),
});

const buildStepEntries =
  (isOfKind: (step: Step) => boolean) =>
  ({ run }: TimelineSource): Entry[] =>
    run.steps.filter(isOfKind).map(toStepEntry);

const createKindPredicate = (kind: Step['kind']) => (step: Step) => step.kind === kind;
const isToolStep = (step: Step) => step.kind === 'tool' && !isModelStep(step);

const toApprovalEntry = (approval: Approval): Entry => ({
  id: `approval-${approval.id}`,
  name: approval.title,
  ...APPROVAL_STATUS_DISPLAYS[approval.status],
  from: Date.parse(approval.requested_at),
  to: parseTime(approval.decided_at ?? (approval.status === 'expired' ? (approval.expires_at ?? null) : null)),
  detail: <ApprovalDetail approval={approval} />,
});

/** Among entries that begin at the same time, those of an earlier kind come first. */
const ENTRY_KINDS: EntryKind[] = [
  { name: 'wait', word: 'Queue', icon: <ClockIcon />, buildEntries: buildWaitEntries },
  { name: 'attempt', word: 'Code', icon: <PlayIcon />, buildEntries: buildAttemptEntries },
  {
    name: 'approval',
    word: 'Approval',
    icon: <PersonIcon />,
    buildEntries: ({ run }) => run.approvals.map(toApprovalEntry),
  },
  { name: 'step', word: 'Step', icon: <BoltIcon />, buildEntries: buildStepEntries(createKindPredicate('step')) },
  { name: 'sleep', word: 'Sleep', icon: <SleepIcon />, buildEntries: buildStepEntries(createKindPredicate('sleep')) },
  { name: 'model', word: 'Model', icon: <ModelIcon />, buildEntries: buildStepEntries(isModelStep) },
  { name: 'tool', word: 'Tool', icon: <ToolIcon />, buildEntries: buildStepEntries(isToolStep) },
  { name: 'call', word: 'Call', icon: <CallIcon />, buildEntries: buildStepEntries(createKindPredicate('call')) },
  {
    name: 'artifact',
    word: 'File',
    icon: <FileIcon />,
    buildEntries: ({ live }) =>
      live.artifacts.flatMap(({ id, name, size, at }): Entry[] =>
        at === null
          ? []
          : [{ id: `artifact-${id}`, name, tone: 'success', word: `Saved, ${formatFileSize(size)}`, from: at, to: at }],
      ),
  },
];

/** Builds the entries of all kinds, ordered by their start. */
export const buildTimelineEntries = (source: TimelineSource): KindEntry[] =>
  ENTRY_KINDS.flatMap((kind) => kind.buildEntries(source).map((entry) => ({ ...entry, kind }))).sort(
    (one, other) => one.from - other.from,
  );
