import { NativeSelect } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Visibility } from '../shell/api';
import { LinkIcon, LockIcon, WorldIcon } from '../ui/icons';
import { StatusChip } from '../ui/status-chip';

const VISIBILITY_LABELS: Record<Visibility, [word: string, icon: ReactNode]> = {
  private: ['Private', <LockIcon key="private" />],
  unlisted: ['Unlisted', <LinkIcon key="unlisted" />],
  public: ['Public', <WorldIcon key="public" />],
};

export function VisibilityChip({ visibility }: { visibility: Visibility }) {
  const [word, icon] = VISIBILITY_LABELS[visibility];
  return (
    <StatusChip tone="idle" icon={icon}>
      {word}
    </StatusChip>
  );
}

const VISIBILITY_OPTIONS = Object.entries(VISIBILITY_LABELS).map(([value, [label]]) => ({ value, label }));

const VISIBILITY_DESCRIPTIONS: Record<Visibility, string> = {
  private: 'Only you',
  unlisted: 'People with the link',
  public: 'Everyone (listed in search)',
};

interface VisibilityFieldProps {
  value: Visibility;
  onChange: (visibility: Visibility) => void;
  /** Whether a private skill is shared with people. */
  shared?: boolean;
  disabled?: boolean;
}

export const VisibilityField = ({ value, onChange, shared = false, disabled }: VisibilityFieldProps) => (
  <NativeSelect
    label="Visibility"
    description={
      value === 'private' && shared ? 'Only you and people you share the skill with' : VISIBILITY_DESCRIPTIONS[value]
    }
    inputWrapperOrder={['label', 'input', 'description']}
    data={VISIBILITY_OPTIONS}
    value={value}
    disabled={disabled}
    onChange={(event) => onChange(event.currentTarget.value as Visibility)}
  />
);
