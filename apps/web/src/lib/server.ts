import { createClient, Live } from '@belay/client';

/** In a browser the server is where the page came from, and a cookie speaks for the person. */
const address = { url: globalThis.location?.origin ?? 'http://127.0.0.1:4600' };

export const client = createClient(address);

let socket: Live | undefined;

/** The one socket of this tab; dialled when something first needs it. */
export function live(): Live {
  return (socket ??= new Live(address));
}
