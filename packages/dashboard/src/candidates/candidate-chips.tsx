import { Group } from '@mantine/core';
import type { Candidate, CandidateSummary, CaseOutcome } from '../shell/api';
import { CheckIcon, ClockIcon, CrossIcon, StopIcon, ToolIcon, WaitIcon, WarningIcon } from '../ui/icons';
import { LookChip, type StatusLook } from '../ui/status-chip';
import { countSettled } from './verdict';

const OUTCOMES: Record<CaseOutcome, StatusLook> = {
  fixed: { tone: 'success', word: 'Fixed', icon: <ToolIcon /> },
  same: { tone: 'success', word: 'Same', icon: <CheckIcon /> },
  different: { tone: 'timeout', word: 'Different', icon: <WarningIcon /> },
  broken: { tone: 'error', word: 'Broken', icon: <CrossIcon /> },
  still_failing: { tone: 'error', word: 'Still fails', icon: <CrossIcon /> },
  inconclusive: { tone: 'idle', word: 'Inconclusive', icon: <StopIcon /> },
};

const REHEARSING: StatusLook = { tone: 'running', word: 'Rehearsing', icon: <WaitIcon /> };

/** Shows the outcome of one recorded run. */
export function OutcomeChip({ outcome }: { outcome: CaseOutcome | null }) {
  return <LookChip {...(outcome === null ? REHEARSING : OUTCOMES[outcome])} />;
}

const STATUSES: Record<Candidate['status'], StatusLook> = {
  rehearsing: REHEARSING,
  ready: { tone: 'timeout', word: 'Awaiting decision', icon: <ClockIcon /> },
  promoted: { tone: 'success', word: 'Promoted', icon: <CheckIcon /> },
  dropped: { tone: 'idle', word: 'Dropped', icon: <StopIcon /> },
  failed: { tone: 'error', word: 'Not rehearsed', icon: <CrossIcon /> },
};

export const CandidateStatusChip = ({ status }: { status: Candidate['status'] }) => <LookChip {...STATUSES[status]} />;

const OUTCOME_ORDER = ['fixed', 'same', 'different', 'still_failing', 'broken', 'inconclusive'] as const;

/** Shows a chip with the number of cases for each outcome; nothing for a candidate without cases. */
export function SummaryChips({ summary }: { summary: CandidateSummary }) {
  const open = summary.total - countSettled(summary);
  if (summary.total === 0) return null;
  return (
    <Group component="span" display="inline-flex" gap={4} align="stretch">
      {OUTCOME_ORDER.filter((outcome) => summary[outcome] > 0).map((outcome) => {
        const look = OUTCOMES[outcome];
        return <LookChip key={outcome} {...look} word={`${summary[outcome]} ${look.word.toLowerCase()}`} />;
      })}
      {open > 0 && <LookChip {...REHEARSING} word={`${open} rehearsing`} />}
    </Group>
  );
}
