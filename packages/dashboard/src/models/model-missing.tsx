import { Link } from 'react-router';
import { paths } from '../shell/paths';
import { Notice } from '../ui/notice';
import { useModels } from './use-models';

/** Says that agents cannot work yet; nothing where a model is set, or it is not known. */
export function ModelMissing() {
  const { data: models } = useModels();
  if (models?.length !== 0) return null;
  return (
    <Notice tone="error" title="No language model is set" action={<Link to={paths.models}>How to set one</Link>}>
      Its runs fail until whoever operates this installation names a provider.
    </Notice>
  );
}
