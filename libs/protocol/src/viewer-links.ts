import { z } from 'zod';
import { tokenInfo, tokenLabel } from './access.js';

/** The longest validity of a link. */
export const maxLinkDays = 365;

/** A link with which someone without an account can watch one session: a token with the scope `view` for this session only. */
export const newViewerLink = z.object({
  label: tokenLabel,
  expires: z.iso
    .datetime({ offset: true })
    .refine((time) => Date.parse(time) > Date.now(), 'choose a time in the future')
    .refine(
      (time) => Date.parse(time) <= Date.now() + maxLinkDays * 24 * 3_600_000 + 60_000,
      `choose a time within ${maxLinkDays} days`,
    ),
});
export type NewViewerLink = z.infer<typeof newViewerLink>;

export const viewerLink = tokenInfo
  .pick({ id: true, label: true, created: true, lastUsed: true })
  .extend({ expires: z.iso.datetime({ offset: true }) });
export type ViewerLink = z.infer<typeof viewerLink>;

export const madeViewerLink = viewerLink.extend({
  token: z.string().describe('The token of the link. It is shown only once.'),
  path: z.string().describe('The page to open; it logs the browser in with the token.'),
});
export type MadeViewerLink = z.infer<typeof madeViewerLink>;
