import { useMutation } from '@tanstack/react-query';
import { useNavigate } from 'react-router';
import { paths } from '../shell/paths';
import { type SessionTokens, session } from '../shell/session';
import { clearLinkToken, type LinkPurpose } from './link-token';

/** Submits a form opened from a link: starts the session, forgets the link's token and goes to the home page. */
export function useLinkSignIn<T>(purpose: LinkPurpose, submit: (input: T) => Promise<SessionTokens>) {
  const navigate = useNavigate();
  return useMutation({
    mutationFn: submit,
    onSuccess: async (response) => {
      clearLinkToken(purpose);
      await session.adopt(response);
      navigate(paths.home);
    },
  });
}
