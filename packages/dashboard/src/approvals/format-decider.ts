/** Formats `link: Grace` as `Grace (with the link)`. */
export const formatDecider = (decidedBy: string): string => decidedBy.replace(/^link: (.*)$/s, '$1 (via review link)');
