import { createClient, LiveConnection, type BelayClient } from '@belay/client';
import { uploadFetch } from './upload-fetch';

/** The part of the live connection that panels use; the player implements it from a recording. */
export type LiveSide = Pick<
  LiveConnection,
  'state' | 'onState' | 'watch' | 'fleet' | 'evaluations' | 'request'
>;

/**
 * The key that `/login` stored for this origin. Browsers send the cookie to other ports of the
 * host, too, so it is not enough for a login.
 */
const key = globalThis.localStorage?.getItem('belay-key') ?? undefined;

/** In a browser, the server is the page’s origin. */
const address = {
  url: globalThis.location?.origin ?? 'http://127.0.0.1:4600',
  ...(key && { token: key }),
};

/** Whether this page has the key of a login. */
export const hasKey = key !== undefined;

/** Only in `lib/steering-client`: pages must use the session controls instead. */
export type SteeringCall =
  'pause' | 'interrupt' | 'resume' | 'stop' | 'restart' | 'change' | 'remove';

type PageClient = Omit<BelayClient, 'sessions'> & {
  sessions: Omit<BelayClient['sessions'], SteeringCall>;
};

export const client: PageClient = createClient(address);

/** A client that reports how many bytes of a body it has sent. */
export const uploadClient = (onSent: (bytes: number) => void): PageClient =>
  createClient({ ...address, fetch: uploadFetch(onSent) });

/** Whether this page is a recording, which can be played but not changed. */
export const recorded: boolean = false;

let socket: LiveConnection | undefined;

/** The tab’s only live connection, opened on first use. */
export function live(): LiveSide {
  return (socket ??= new LiveConnection(address));
}
