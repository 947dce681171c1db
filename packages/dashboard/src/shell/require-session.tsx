import type { ReactNode } from 'react';
import { Navigate, useLocation } from 'react-router';
import { signInPath } from './paths';
import { useSession } from './session';

export function RequireSession({ children }: { children: ReactNode }) {
  const { status } = useSession();
  const location = useLocation();
  if (status === 'anonymous') return <Navigate to={signInPath(location)} replace />;
  return children;
}
