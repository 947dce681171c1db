/** Returns the properties of a field that shows a text and changes it. */
export const bindText = (value: string, onChange: (value: string) => void) => ({
  value,
  onChange: ({ currentTarget }: { currentTarget: { value: string } }) => onChange(currentTarget.value),
});

/** Returns the properties of a checkbox that shows a setting and changes it. */
export const bindChecked = (checked: boolean, onChange: (checked: boolean) => void) => ({
  checked,
  onChange: ({ currentTarget }: { currentTarget: { checked: boolean } }) => onChange(currentTarget.checked),
});

/** Returns the properties of a select field that shows one of its options and changes it. */
export const bindChoice = <Value extends string>(value: Value, onChange: (value: Value) => void) => ({
  value,
  onChange: ({ currentTarget }: { currentTarget: { value: string } }) => onChange(currentTarget.value as Value),
});
