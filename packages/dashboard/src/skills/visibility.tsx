import { NativeSelect, type NativeSelectProps } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Visibility } from '../shell/api';
import { LinkIcon, LockIcon, WorldIcon } from '../ui/icons';
import { StatusChip } from '../ui/status-chip';

const WORDS: Record<Visibility, [word: string, icon: ReactNode, choice: string]> = {
  private: ['Private', <LockIcon key="private" />, 'Private: only you, and people you share it with'],
  unlisted: ['Unlisted', <LinkIcon key="unlisted" />, 'Unlisted: anyone with the link'],
  public: ['Public', <WorldIcon key="public" />, 'Public: anyone; it is listed and found'],
};

export function VisibilityChip({ visibility }: { visibility: Visibility }) {
  const [word, icon] = WORDS[visibility];
  return (
    <StatusChip tone="idle" icon={icon}>
      {word}
    </StatusChip>
  );
}

const CHOICES = Object.entries(WORDS).map(([value, [, , label]]) => ({ value, label }));

interface VisibilityFieldProps extends Omit<NativeSelectProps, 'data' | 'onChange'> {
  onChange?: (visibility: Visibility) => void;
}

export const VisibilityField = ({ onChange, ...props }: VisibilityFieldProps) => (
  <NativeSelect
    label="Who may read it"
    data={CHOICES}
    onChange={(event) => onChange?.(event.currentTarget.value as Visibility)}
    {...props}
  />
);
