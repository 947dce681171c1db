import { CopyableCode } from '../ui/copyable-code';
import { Notice } from '../ui/notice';

/** Shows the secret once, after it was created. */
export function SigningSecretNotice({ secret }: { secret: string }) {
  return (
    <Notice tone="info" title="Copy the signing secret now. It won’t be shown again">
      <p>The receiver uses it to verify that requests come from Gantry (Standard Webhooks).</p>
      <CopyableCode label="Signing secret" code={secret} />
    </Notice>
  );
}
