import { isIP } from 'node:net';
import { apiName, type ApiName } from '@belay/protocol';

/** In whose name another server asks. Its rights are those that the asked server knows. */
export interface IntroducedCaller {
  /** `owner`, `viewer`, `token:ID` or `user:ID`. */
  id: string;
  /** The API through which the caller asked the other server. */
  api: ApiName;
}

/**
 * What a connection from another server carries: all that a client sends on a connection of its own; one request of a
 * client about a session, with the client’s own credentials; or a request in the name of a caller that the other server
 * has authenticated.
 */
export type PeerIntroduction = { /** The client’s IP address. */ address: string } & (
  { kind: 'connection' | 'request' } | { kind: 'caller'; caller: IntroducedCaller }
);

/** The largest line with its end, in bytes. */
export const maxIntroductionLine = 200;

const requestWord = 'relayed';
const callerWord = 'caller';
const callerId = /^[\w:.-]{1,64}$/;

/** The first line of a connection to a server with this key. */
export function introductionLine(key: string, introduction: PeerIntroduction): string {
  const words = [key, introduction.address];
  if (introduction.kind === 'request') words.push(requestWord);
  else if (introduction.kind === 'caller')
    words.push(callerWord, introduction.caller.id, introduction.caller.api);
  return `${words.join(' ')}\n`;
}

/** Undefined for anything else than one whole line. */
export function readIntroduction(
  line: string,
): { key: string; introduction: PeerIntroduction } | undefined {
  if (!line.endsWith('\n')) return undefined;
  const [key = '', address = '', kind, ...more] = line.slice(0, -1).split(' ');
  const introduction = isIP(address) === 0 ? undefined : introductionOf(address, kind, more);
  return introduction && { key, introduction };
}

function introductionOf(
  address: string,
  kind: string | undefined,
  more: readonly string[],
): PeerIntroduction | undefined {
  if (kind === undefined) return { address, kind: 'connection' };
  if (kind === requestWord) return more.length === 0 ? { address, kind: 'request' } : undefined;
  const [id = '', api, ...rest] = more;
  const known = apiName.safeParse(api);
  if (kind !== callerWord || !callerId.test(id) || !known.success || rest.length > 0)
    return undefined;
  return { address, kind: 'caller', caller: { id, api: known.data } };
}
