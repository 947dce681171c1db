import { PasswordInput, type PasswordInputProps } from '@mantine/core';

/** A password that has to be given; the button that shows it is within reach of the keyboard. */
export const PasswordField = (props: PasswordInputProps) => (
  <PasswordInput
    required
    withAsterisk={false}
    visibilityToggleButtonProps={{ 'aria-label': 'Show password', tabIndex: 0 }}
    {...props}
  />
);
