/** `link: Grace`, in words. */
export const deciderName = (decidedBy: string): string => decidedBy.replace(/^link: (.*)$/s, '$1 (with the link)');
