import { Checkbox } from '@mantine/core';

interface CheckboxListProps<Value extends string> {
  options: readonly Value[];
  labels: Record<Value, string>;
  value: readonly Value[];
  onChange: (value: Value[]) => void;
  /** Limit of selected options. */
  most?: number;
}

/** Renders a checkbox for each option. */
export const CheckboxList = <Value extends string>(props: CheckboxListProps<Value>) => {
  const { options, labels, value, onChange, most = Number.POSITIVE_INFINITY } = props;
  const selected = new Set(value);
  return options.map((option) => (
    <Checkbox
      key={option}
      label={labels[option]}
      checked={selected.has(option)}
      disabled={!selected.has(option) && value.length >= most}
      onChange={({ currentTarget: { checked } }) =>
        onChange(checked ? [...value, option] : value.filter((one) => one !== option))
      }
    />
  ));
};
