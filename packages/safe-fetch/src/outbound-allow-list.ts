import { z } from 'zod';
import { createAddressPolicy } from './address-check';

/**
 * The environment variable `OUTBOUND_ALLOW_CIDRS`: destinations outside the public internet that the platform's own
 * requests may reach. Networks or addresses, with or without port, separated by commas or spaces:
 * `10.1.0.0/16, 192.168.3.4:5432, [fd00::5]:80`. Empty unless the operator's receivers are internal, or a test's on
 * 127.0.0.1. It applies to every workspace, so its destinations are open to everybody who may set a URL.
 */
export const outboundAllowList = z
  .string()
  .default('')
  .transform((text) => text.split(/[\s,]+/).filter(Boolean))
  .superRefine((entries, context) => {
    for (const entry of entries.filter((one) => !isAddressRange(one))) {
      context.addIssue({ code: 'custom', message: `${entry} is neither a network nor an address` });
    }
  });

function isAddressRange(entry: string): boolean {
  try {
    createAddressPolicy([entry]);
    return true;
  } catch {
    return false;
  }
}
