import { Notice } from '../ui/notice';

/** Shown on a page that was opened without the token of its link. */
export const BrokenLink = () => (
  <Notice tone="error">This address is not whole. Open the link again, or copy all of it.</Notice>
);
