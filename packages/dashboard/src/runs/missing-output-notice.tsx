import { Notice } from '../ui/notice';

/** Shown in place of an output that the object store has lost. */
export const MissingOutputNotice = () => (
  <Notice tone="error" title="Output no longer available">
    It’s missing from the object store. The rest of this run is intact. Run the worker again to create new output.
  </Notice>
);
