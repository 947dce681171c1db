import { useState } from 'react';
import { OutputJson } from '../../outputs/output-json';
import type { ChatCall, ChatTurn } from '../../shell/api';
import { duration } from '../../ui/format';
import { CheckIcon, ClockIcon, CrossIcon, RightIcon, StopIcon, WaitIcon } from '../../ui/icons';
import { StatusChip, type Tone } from '../../ui/status-chip';
import { callState, gistOf } from './call-words';
import { ExactValue } from './exact-value';
import styles from './tool-call.module.css';

const ICONS: Record<Tone, React.ReactNode> = {
  idle: <StopIcon />,
  running: <ClockIcon />,
  success: <CheckIcon />,
  error: <CrossIcon />,
  timeout: <WaitIcon />,
};

interface ToolCallProps {
  call: ChatCall;
  turn: ChatTurn['status'];
  /** In milliseconds, where it is known. */
  ms: number | undefined;
}

/** One line that opens: what was called, with what, and what it answered. */
export function ToolCall({ call, turn, ms }: ToolCallProps) {
  const [isOpen, setOpen] = useState(false);
  const { tone, word } = callState(call.status, turn);
  return (
    <details className={styles.call} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className={styles.summary} id={summaryId(call.call_id)}>
        <span className={styles.fold}>
          <RightIcon />
        </span>
        <span className={styles.title}>{call.title}</span>
        <span className={styles.gist}>{gistOf(call.arguments)}</span>
        {ms !== undefined && <span className={styles.duration}>{duration(ms)}</span>}
        <StatusChip tone={tone} icon={ICONS[tone]}>
          {word}
        </StatusChip>
      </summary>
      {isOpen && (
        <div className={styles.body}>
          <Named name="Tool">
            <code className={styles.name}>{call.name}</code>
          </Named>
          <Named name="Arguments">
            <ExactValue value={call.arguments} />
          </Named>
          {call.result !== null && (
            <Named name="Result">
              <Result text={call.result} />
            </Named>
          )}
          {word === 'Outcome unknown' && (
            <p className={styles.note}>
              The service ended while this was under way. It may or may not have been done; it is not done again by
              itself.
            </p>
          )}
        </div>
      )}
    </details>
  );
}

export const summaryId = (callId: string): string => `call-${callId}`;

function Named({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div className={styles.part}>
      <p className={styles.partName}>{name}</p>
      {children}
    </div>
  );
}

/** Most tools answer JSON. */
function Result({ text }: { text: string }) {
  const value = jsonOf(text);
  if (typeof value === 'object' && value !== null) return <OutputJson value={value} />;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <pre className={styles.result} tabIndex={0}>
      {text}
    </pre>
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
