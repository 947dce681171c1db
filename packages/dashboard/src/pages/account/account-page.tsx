import { SettingsFrame } from '../../settings/settings-frame';
import { ChangePassword } from './change-password';
import { EmailAddress } from './email-address';
import { Sessions } from './sessions';

export default function AccountPage() {
  return (
    <SettingsFrame title="Account" about="Yours alone, in every workspace.">
      <EmailAddress />
      <ChangePassword />
      <Sessions />
    </SettingsFrame>
  );
}
