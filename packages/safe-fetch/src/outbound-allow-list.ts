import { z } from 'zod';
import { createAddressPolicy } from './address-check';

/**
 * The environment variable `OUTBOUND_ALLOW_CIDRS`: where our own requests may go although it is not the public internet.
 * Networks or addresses, with or without port, divided by commas or spaces: `10.1.0.0/16, 192.168.3.4:5432, [fd00::5]:80`.
 * Empty unless the operator's receivers live inside, or a test's on 127.0.0.1. It holds for every workspace, so what it
 * opens is open to everybody who may set a URL.
 */
export const outboundAllowList = z
  .string()
  .default('')
  .transform((text) => text.split(/[\s,]+/).filter(Boolean))
  .superRefine((entries, context) => {
    for (const entry of entries.filter((one) => !isException(one))) {
      context.addIssue({ code: 'custom', message: `${entry} is neither a network nor an address` });
    }
  });

function isException(entry: string): boolean {
  try {
    createAddressPolicy([entry]);
    return true;
  } catch {
    return false;
  }
}
