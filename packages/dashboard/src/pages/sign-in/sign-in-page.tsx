import { Button, Text, TextInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { Link, Navigate, useSearchParams } from 'react-router';
import { getIdentityProviderErrorMessage, IdentityProviderButton } from '../../accounts/identity-provider-button';
import { CardPage } from '../../shell/frame/card-page';
import { getNextParam, paths } from '../../shell/paths';
import { session, useSession } from '../../shell/session';
import { useTitle } from '../../shell/use-title';
import styles from '../../ui/card.module.css';
import { handleSubmit } from '../../ui/form';
import { Notice } from '../../ui/notice';
import { PasswordField } from '../../ui/password-field';
import { resolveNextPath } from './next-path';

export default function SignInPage() {
  const { status } = useSession();
  const [params] = useSearchParams();
  useTitle('Sign in');
  const next = resolveNextPath(getNextParam(params), window.location.origin);
  if (status === 'signed-in') return <Navigate to={next} replace />;
  return (
    <CardPage>
      <SignInForm next={next} error={params.get('error')} />
    </CardPage>
  );
}

function SignInForm({ next, error }: { next: string; error: string | null }) {
  const [problem, setProblem] = useState<string | null>(error && getIdentityProviderErrorMessage(error));
  const [busy, setBusy] = useState(false);
  const email = useRef<HTMLInputElement>(null);
  useEffect(() => email.current?.focus(), []);

  async function submit(form: FormData) {
    setBusy(true);
    setProblem(null);
    try {
      await session.signIn(String(form.get('email')), String(form.get('password')));
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      setBusy(false);
      email.current?.focus();
    }
  }

  return (
    <form className={styles.card} onSubmit={handleSubmit(submit)}>
      <div>
        <h1>Sign in</h1>
        <Text mt={4} c="dimmed">
          Run and monitor your team’s workers and automations.
        </Text>
      </div>
      <TextInput ref={email} name="email" type="email" autoFocus label="Email" autoComplete="username" required />
      <PasswordField name="password" label="Password" autoComplete="current-password" />
      {problem && <Notice tone="error">{problem}</Notice>}
      <Button type="submit" size="md" loading={busy} fullWidth>
        Sign in
      </Button>
      <IdentityProviderButton next={next} />
      <Text fz="xs" c="dimmed">
        <Link to={paths.forgotPassword}>Forgot your password?</Link>
      </Text>
      <Text fz="xs" c="dimmed">
        First time here? After you run <code>npm start</code>, your sign-in details are in <code>.data/local.json</code>
        . In containers, <code>setup</code> prints a sign-in link.
      </Text>
    </form>
  );
}
