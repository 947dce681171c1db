import { SettingsFrame } from '../../settings/settings-frame';
import { ChangePasswordForm } from './change-password';
import { EmailAddress } from './email-address';
import { Sessions } from './sessions';

export default function AccountPage() {
  return (
    <SettingsFrame title="Account" about="Yours alone, in every workspace.">
      <EmailAddress />
      <ChangePasswordForm />
      <Sessions />
    </SettingsFrame>
  );
}
