import { TextInput } from '@mantine/core';

interface NumberFieldProps {
  name: string;
  label: string;
  description: string;
  value: number | null | undefined;
  min: number;
  max: number;
  step?: number | 'any';
  /** The placeholder of an empty field, which means no limit; without it, a number is required. */
  emptyLabel?: string;
}

export function NumberField({ name, label, description, value, min, max, step = 1, emptyLabel }: NumberFieldProps) {
  return (
    <TextInput
      type="number"
      name={name}
      label={label}
      description={description}
      defaultValue={value ?? ''}
      placeholder={emptyLabel}
      min={min}
      max={max}
      step={step}
      required={emptyLabel === undefined}
      withAsterisk={false}
    />
  );
}
