import { Notice } from '../ui/notice';

/** Shown on a page that was opened without the token of its link. */
export const BrokenLinkNotice = () => (
  <Notice tone="error">
    This link is incomplete. Open the original link again, or paste the full URL into your browser.
  </Notice>
);
