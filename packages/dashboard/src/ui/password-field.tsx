import { PasswordInput, type PasswordInputProps } from '@mantine/core';

/** A required password field, whose show button can be reached by keyboard. */
export const PasswordField = (props: PasswordInputProps) => (
  <PasswordInput required visibilityToggleButtonProps={{ 'aria-label': 'Show password', tabIndex: 0 }} {...props} />
);
