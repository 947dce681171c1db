import { Box, Checkbox, Input, NativeSelect, Textarea, TextInput } from '@mantine/core';
import type { InputItem } from '../shell/api';
import { bindChecked, bindText } from '../ui/bind';
import styles from './input-field.module.css';
import { type FieldValue, getInputLabel, listInputOptions } from './input-value';

interface InputFieldProps {
  item: InputItem;
  value: FieldValue;
  problem: string | undefined;
  onChange: (value: FieldValue) => void;
}

/** Renders the field for an input item of a manifest. */
export function InputField({ item, value, problem, onChange }: InputFieldProps) {
  const fieldProps = {
    id: getFieldId(item),
    name: item.name,
    label: getInputLabel(item),
    description: item.description,
    error: problem,
  };
  const textProps = {
    ...fieldProps,
    required: item.required,
    withAsterisk: item.required,
    ...bindText(typeof value === 'string' ? value : '', onChange),
  };
  switch (item.type) {
    case 'boolean':
      return <Checkbox {...fieldProps} {...bindChecked(value === true, onChange)} />;
    case 'select':
      return (
        <NativeSelect
          {...textProps}
          data={[
            { value: '', label: item.required ? 'Choose…' : 'None' },
            ...listInputOptions(item).map(({ key, label }) => ({ value: key, label })),
          ]}
        />
      );
    case 'textarea':
      return <Textarea {...textProps} rows={5} placeholder={item.placeholder} />;
    case 'json':
      return (
        <Textarea
          {...textProps}
          rows={6}
          spellCheck={false}
          placeholder={item.placeholder ?? '{ }'}
          className="code-field"
        />
      );
    case 'file':
      return <FileField item={item} problem={problem} onChange={onChange} />;
    default:
      return <TextInput {...textProps} {...getTextInputProps(item)} placeholder={item.placeholder} />;
  }
}

export const getFieldId = (item: InputItem): string => `input-${item.name}`;

/**
 * Numbers are typed as text: a browser's number field loses what it can't read, and changes when one scrolls over it.
 */
function getTextInputProps(item: InputItem) {
  switch (item.type) {
    case 'number':
    case 'integer':
      return {
        inputMode: item.type === 'integer' ? 'numeric' : 'decimal',
        autoComplete: 'off',
        rightSection: renderRange(item),
        rightSectionWidth: 'auto',
      } as const;
    case 'date':
      return { type: 'date' } as const;
    case 'url':
      return { type: 'url', inputMode: 'url', autoComplete: 'url' } as const;
    default:
      return { autoComplete: 'off' } as const;
  }
}

function renderRange({ minimum, maximum }: InputItem) {
  if (minimum === undefined && maximum === undefined) return undefined;
  const text =
    maximum === undefined
      ? `${minimum} or more`
      : minimum === undefined
        ? `up to ${maximum}`
        : `${minimum} to ${maximum}`;
  return (
    <Box component="span" className="nowrap" px="sm" fz="xs" c="dimmed">
      {text}
    </Box>
  );
}

function FileField({ item, problem, onChange }: Omit<InputFieldProps, 'value'>) {
  const id = getFieldId(item);
  const size = item.max_size_mb === undefined ? '' : `Up to ${item.max_size_mb} MB. `;
  const description = `${size}${item.description ?? ''}`.trim();
  return (
    <Input.Wrapper
      id={id}
      size="md"
      label={getInputLabel(item)}
      labelProps={{ htmlFor: id }}
      description={description || undefined}
      error={problem}
      required={item.required}
      withAsterisk={item.required}
    >
      <input
        id={id}
        name={item.name}
        type="file"
        className={styles.file}
        accept={item.accepts?.join(',')}
        aria-invalid={problem ? true : undefined}
        aria-describedby={
          `${description ? `${id}-description` : ''} ${problem ? `${id}-error` : ''}`.trim() || undefined
        }
        onChange={(event) => onChange(event.currentTarget.files?.[0] ?? null)}
      />
    </Input.Wrapper>
  );
}
