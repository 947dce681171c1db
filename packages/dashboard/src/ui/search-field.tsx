import { TextInput, type TextInputProps } from '@mantine/core';
import type { Ref } from 'react';
import { SearchIcon } from './icons';

interface SearchFieldProps extends Omit<TextInputProps, 'label' | 'value' | 'onChange'> {
  /** For screen readers; also shown in the empty field, unless that has a placeholder. */
  label: string;
  value: string;
  onChange: (text: string) => void;
  ref?: Ref<HTMLInputElement>;
}

export function SearchField({ label, onChange, ...input }: SearchFieldProps) {
  return (
    <TextInput
      type="search"
      aria-label={label}
      placeholder={label}
      leftSection={<SearchIcon />}
      {...input}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
