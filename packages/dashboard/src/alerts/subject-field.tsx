import { NativeSelect } from '@mantine/core';
import type { Option } from '../ui/search-select';
import { ResourceSearchField } from '../workers/resource-search-field';

/** The workspace, worker or automation whose runs an alert reports. */
export interface Subject {
  kind: 'workspace' | 'worker' | 'automation';
  /** Null until one is chosen. */
  option: Option | null;
}

const SUBJECT_KIND_OPTIONS = [
  { value: 'workspace', label: 'All workers and automations' },
  { value: 'worker', label: 'A specific worker' },
  { value: 'automation', label: 'A specific automation' },
] as const;

interface SubjectFieldProps {
  subject: Subject;
  problem: string | undefined;
  onChange: (subject: Subject) => void;
}

export function SubjectField({ subject, problem, onChange }: SubjectFieldProps) {
  const { kind, option } = subject;
  return (
    <>
      <NativeSelect
        label="Source"
        value={kind}
        data={SUBJECT_KIND_OPTIONS}
        onChange={(event) => onChange({ kind: event.currentTarget.value as Subject['kind'], option: null })}
      />
      {kind !== 'workspace' && (
        <ResourceSearchField
          key={kind}
          kind={kind}
          label={kind === 'worker' ? 'Worker' : 'Automation'}
          option={option}
          problem={problem}
          onChange={(found) => onChange({ kind, option: found })}
        />
      )}
    </>
  );
}
