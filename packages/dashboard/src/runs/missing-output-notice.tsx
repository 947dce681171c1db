import { Notice } from '../ui/notice';

/** Shown in place of an output that the object store has lost. */
export const MissingOutputNotice = () => (
  <Notice tone="error" title="The output is no longer stored">
    The object store has lost it. The rest of this run is intact. Run the worker again for a new output.
  </Notice>
);
