import { CodeToCopy } from '../ui/code-to-copy';
import { Notice } from '../ui/notice';

/** Shown once, after it was made. */
export function SigningSecret({ secret }: { secret: string }) {
  return (
    <Notice tone="info" title="Copy the signing secret now: it is not shown again">
      <p>With it the receiver checks that a request comes from here (Standard Webhooks).</p>
      <CodeToCopy label="Signing secret" code={secret} />
    </Notice>
  );
}
