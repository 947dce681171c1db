import { TextInput, type TextInputProps } from '@mantine/core';

/** A field for a number that is checked when the form is sent. */
export const DecimalField = (props: TextInputProps) => <TextInput inputMode="decimal" autoComplete="off" {...props} />;
