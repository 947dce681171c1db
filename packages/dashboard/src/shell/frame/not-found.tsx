import { upperFirst } from '@mantine/hooks';
import { Link } from 'react-router';
import { EmptyState } from '../../ui/empty-state';
import { paths } from '../paths';
import { useTitle } from '../use-title';

export function NotFound({ what = 'page' }: { what?: string }) {
  useTitle('Not found');
  return (
    <EmptyState title={`${upperFirst(what)} not found`} level={1}>
      <p>The link may be outdated or mistyped, or the {what} may belong to a workspace you’re not a member of.</p>
      <p>
        <Link to={paths.home}>Go to Overview</Link>
      </p>
    </EmptyState>
  );
}
