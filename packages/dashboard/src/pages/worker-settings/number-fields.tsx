import { TextInput } from '@mantine/core';
import { getFormText } from '../../ui/form-text';

export interface NumberSetting<Settings> {
  name: keyof Settings & string;
  label: string;
  description: string;
  min: number;
  max: number;
  /** Absent: whole numbers. */
  step?: 'any';
  /** The placeholder of an empty field, which is null; without it, a number is required. */
  emptyLabel?: string;
}

interface NumberFieldsProps<Settings> {
  settings: readonly NumberSetting<Settings>[];
  values: Settings;
}

export const NumberFields = <Settings extends object>({ settings, values }: NumberFieldsProps<Settings>) =>
  settings.map(({ step = 1, emptyLabel, ...field }) => (
    <TextInput
      key={field.name}
      type="number"
      {...field}
      defaultValue={(values[field.name] as number | null | undefined) ?? ''}
      placeholder={emptyLabel}
      step={step}
      required={emptyLabel === undefined}
    />
  ));

/** Reads what the fields contain. */
export const parseNumbers = <Settings,>(formData: FormData, settings: readonly NumberSetting<Settings>[]) =>
  Object.fromEntries(
    settings.map(({ name, emptyLabel }) => {
      const text = getFormText(formData, name);
      return [name, text === '' && emptyLabel !== undefined ? null : Number(text)];
    }),
  ) as Partial<Settings>;
