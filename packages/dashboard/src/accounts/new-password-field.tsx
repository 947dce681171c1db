import { PasswordField } from '../ui/password-field';

export const NewPasswordField = ({ name, label }: { name: string; label: string }) => (
  <PasswordField
    name={name}
    label={label}
    description="At least 10 characters. A few unrelated words make a good password."
    autoComplete="new-password"
  />
);
