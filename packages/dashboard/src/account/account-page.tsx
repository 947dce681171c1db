import { SettingsFrame } from '../settings/settings-frame';
import { ChangePassword } from './change-password';
import { Sessions } from './sessions';

export function AccountPage() {
  return (
    <SettingsFrame title="Account">
      <ChangePassword />
      <Sessions />
    </SettingsFrame>
  );
}
