import { SettingsLayout } from '../../settings/settings-layout';
import { ChangePasswordForm } from './change-password-form';
import { EmailAddress } from './email-address';
import { Sessions } from './sessions';

export default function AccountPage() {
  return (
    <SettingsLayout title="Account" about="Your password, email address and sessions, across all workspaces.">
      <EmailAddress />
      <ChangePasswordForm />
      <Sessions />
    </SettingsLayout>
  );
}
