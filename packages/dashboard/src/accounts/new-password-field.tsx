import { PasswordField } from '../ui/password-field';

export const NewPasswordField = ({ name, label }: { name: string; label: string }) => (
  <PasswordField
    name={name}
    label={label}
    description="At least 10 characters. A few words that only you would put together are good."
    autoComplete="new-password"
  />
);
