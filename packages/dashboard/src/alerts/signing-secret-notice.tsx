import { CopyableCode } from '../ui/copyable-code';
import { Notice } from '../ui/notice';

/** Shows the secret once, after it was created. */
export function SigningSecretNotice({ secret }: { secret: string }) {
  return (
    <Notice tone="info" title="Copy the signing secret now. You won’t be able to see it again.">
      <p>
        Your receiver can use this secret to verify that requests come from Gantry. Signatures follow the Standard
        Webhooks specification.
      </p>
      <CopyableCode label="Signing secret" code={secret} />
    </Notice>
  );
}
