import type { CaseOutcome, EvaluationResult } from '../shell/api';
import { CheckIcon, CrossIcon, StopIcon, ToolIcon, WaitIcon, WarningIcon } from '../ui/icons';
import { StatusChip, type StatusDisplay } from '../ui/status-chip';

/** The outcome of a candidate's case or of an example in an evaluation. */
export type Verdict = CaseOutcome | EvaluationResult['status'] | 'rehearsing';

export const VERDICT_LOOKS: Record<Verdict, StatusDisplay> = {
  fixed: { tone: 'success', word: 'Fixed', icon: <ToolIcon /> },
  same: { tone: 'success', word: 'Same', icon: <CheckIcon /> },
  different: { tone: 'timeout', word: 'Different', icon: <WarningIcon /> },
  broken: { tone: 'error', word: 'Broken', icon: <CrossIcon /> },
  still_failing: { tone: 'error', word: 'Still failing', icon: <CrossIcon /> },
  inconclusive: { tone: 'idle', word: 'Inconclusive', icon: <StopIcon /> },
  passed: { tone: 'success', word: 'Passed', icon: <CheckIcon /> },
  failed: { tone: 'error', word: 'Failed', icon: <CrossIcon /> },
  error: { tone: 'timeout', word: 'Not evaluated', icon: <WarningIcon /> },
  running: { tone: 'running', word: 'Running', icon: <WaitIcon /> },
  pending: { tone: 'idle', word: 'Pending', icon: <WaitIcon /> },
  stopped: { tone: 'idle', word: 'Stopped', icon: <StopIcon /> },
  rehearsing: { tone: 'running', word: 'Rehearsing', icon: <WaitIcon /> },
};

/** Shows a verdict, or how many rehearsals have it. */
export function VerdictBadge({ verdict, count }: { verdict: Verdict; count?: number }) {
  const look = VERDICT_LOOKS[verdict];
  return <StatusChip {...look} word={count === undefined ? look.word : `${count} ${look.word.toLowerCase()}`} />;
}

/** Verdicts that need a review. */
const NOTABLE_VERDICTS: ReadonlySet<Verdict> = new Set<Verdict>([
  ...(['different', 'broken', 'still_failing', 'failed', 'error'] as const),
]);

export const isNotable = (verdict: Verdict): boolean => NOTABLE_VERDICTS.has(verdict);
