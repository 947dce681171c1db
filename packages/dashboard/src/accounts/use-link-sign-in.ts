import { useMutation } from '@tanstack/react-query';
import { useNavigate } from 'react-router';
import { paths } from '../shell/paths';
import { type Granted, session } from '../shell/session';
import { forgetLinkToken, type LinkPurpose } from './link-token';

/** Submits a form opened from a link: starts the session, forgets the link's token and goes to the home page. */
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
