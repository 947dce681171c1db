import { SettingsFrame } from '../../settings/settings-frame';
import { ChangePasswordForm } from './change-password';
import { EmailAddress } from './email-address';
import { Sessions } from './sessions';

export default function AccountPage() {
  return (
    <SettingsFrame title="Account" about="Your password, email address and sessions, across all workspaces.">
      <EmailAddress />
      <ChangePasswordForm />
      <Sessions />
    </SettingsFrame>
  );
}
