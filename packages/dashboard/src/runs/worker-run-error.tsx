import type { ReactNode } from 'react';
import type { SharedRun, WorkerRun } from '../shell/api';
import { RunErrorBox } from './run-error-box';

interface WorkerRunErrorProps {
  run: WorkerRun | SharedRun;
  /** The code that it came from. */
  children?: ReactNode;
}

/** Shows why a worker's run failed, and in which step; renders nothing without an error. */
export function WorkerRunError({ run, children }: WorkerRunErrorProps) {
  const { error, error_code: code, error_type: type } = run;
  if (error === null || code === null) return null;
  const trace = 'error_trace' in run ? run.error_trace : null;
  const last = run.steps.at(-1);
  return (
    <RunErrorBox
      level={2}
      error={{ code, message: error, ...(type !== null && { type }), ...(trace !== null && { trace }) }}
      step={last?.status === 'failed' ? last.name : undefined}
    >
      {children}
    </RunErrorBox>
  );
}
