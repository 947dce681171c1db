import { NativeSelect } from '@mantine/core';
import type { Visibility } from '../shell/api';
import { LinkIcon, LockIcon, WorldIcon } from '../ui/icons';
import { StatusChip, type StatusDisplay } from '../ui/status-chip';

const VISIBILITY_DISPLAYS: Record<Visibility, StatusDisplay> = {
  private: { tone: 'idle', word: 'Private', icon: <LockIcon /> },
  unlisted: { tone: 'idle', word: 'Unlisted', icon: <LinkIcon /> },
  public: { tone: 'idle', word: 'Public', icon: <WorldIcon /> },
};

export const VisibilityChip = ({ visibility }: { visibility: Visibility }) => (
  <StatusChip {...VISIBILITY_DISPLAYS[visibility]} />
);

const VISIBILITY_OPTIONS = Object.entries(VISIBILITY_DISPLAYS).map(([value, { word }]) => ({ value, label: word }));

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
