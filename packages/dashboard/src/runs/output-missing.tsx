import { Notice } from '../ui/notice';

/** In place of the output of a run, which the object store has lost. */
export const OutputMissing = () => (
  <Notice tone="error" title="The output is no longer stored">
    The object store has lost it. Everything else of this run is as it was; run the worker again for a new output.
  </Notice>
);
