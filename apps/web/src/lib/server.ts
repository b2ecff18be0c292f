import { createClient, LiveConnection, type BelayClient } from '@belay/client';

/** The live side as panels use it; a recorded session answers the same from its file. */
export type LiveSide = Pick<
  LiveConnection,
  'state' | 'onState' | 'watch' | 'fleet' | 'evaluations' | 'request'
>;

/** What `/login` stored for this origin. The cookie alone, which other ports of this machine see too, opens nothing. */
const key = globalThis.localStorage?.getItem('belay-key') ?? undefined;

/** In a browser the server is where the page came from. */
const address = {
  url: globalThis.location?.origin ?? 'http://127.0.0.1:4600',
  ...(key && { token: key }),
};

/** Whether this page has its half of a login. */
export const hasKey = key !== undefined;

/** `lib/steering-client` has these; the session controls are what pages use. */
export type SteeringCall = 'pause' | 'resume' | 'stop' | 'restart' | 'change' | 'remove';

type PageClient = Omit<BelayClient, 'sessions'> & {
  sessions: Omit<BelayClient['sessions'], SteeringCall>;
};

export const client: PageClient = createClient(address);

/** Whether this page is a recording: it plays, and nothing can be done. */
export const recorded: boolean = false;

let socket: LiveConnection | undefined;

/** The one socket of this tab; dialled when something first needs it. */
export function live(): LiveSide {
  return (socket ??= new LiveConnection(address));
}
