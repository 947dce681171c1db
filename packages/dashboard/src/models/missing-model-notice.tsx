import { Link } from 'react-router';
import { paths } from '../shell/paths';
import { Notice } from '../ui/notice';
import { useModels } from './use-models';

/** Warns that agents cannot work yet; renders nothing where a model is set, or that is not known. */
export function MissingModelNotice() {
  const { data: models } = useModels();
  if (models?.length !== 0) return null;
  return (
    <Notice
      tone="error"
      title="No language model is configured"
      action={<Link to={paths.models}>How to configure a model</Link>}
    >
      Agent runs will fail until the operator of this installation configures a provider.
    </Notice>
  );
}
