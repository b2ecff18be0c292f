import { createClient, Live, type BelayClient } from '@belay/client';

/** The live side as panels use it; a recorded session answers the same from its file. */
export type LiveSide = Pick<
  Live,
  'state' | 'onState' | 'watch' | 'fleet' | 'evaluations' | 'request'
>;

/** In a browser the server is where the page came from, and a cookie speaks for the person. */
const address = { url: globalThis.location?.origin ?? 'http://127.0.0.1:4600' };

export const client: BelayClient = createClient(address);

/** Whether this page is a recording: it plays, and nothing can be done. */
export const recorded: boolean = false;

let socket: Live | undefined;

/** The one socket of this tab; dialled when something first needs it. */
export function live(): LiveSide {
  return (socket ??= new Live(address));
}
