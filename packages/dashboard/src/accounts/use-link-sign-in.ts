import { useMutation } from '@tanstack/react-query';
import { useNavigate } from 'react-router';
import { paths } from '../shell/paths';
import { type Granted, session } from '../shell/session';
import { forgetLinkToken, type LinkPurpose } from './link-token';

/** Sends a form that a link led to: the answer opens a session, the link is spent, and the person goes home. */
export function useLinkSignIn<T>(purpose: LinkPurpose, ask: (given: T) => Promise<Granted>) {
  const navigate = useNavigate();
  return useMutation({
    mutationFn: ask,
    onSuccess: async (granted) => {
      forgetLinkToken(purpose);
      await session.adopt(granted);
      navigate(paths.home);
    },
  });
}
