import { AppError } from '@belay/protocol';
import type { IntroducedCaller, PeerIntroduction } from './peer-introduction.js';

/** How the sockets were introduced that other servers opened; nothing that is sent on a socket changes it. */
const introductions = new WeakMap<object, PeerIntroduction>();

export function markIntroduced(socket: object, introduction: PeerIntroduction): void {
  introductions.set(socket, introduction);
}

/** The caller in whose name another server uses a socket; undefined for every other socket. */
export function introducedCaller(socket: object): IntroducedCaller | undefined {
  const introduction = introductions.get(socket);
  return introduction?.kind === 'caller' ? introduction.caller : undefined;
}

/** Whether another server uses a socket for a request that it has checked already, and counted. */
export function isPassedOn(socket: object): boolean {
  const kind = introductions.get(socket)?.kind;
  return kind === 'request' || kind === 'caller';
}

/** For all else that is asked over such a socket: whatever a client gets into a request that is passed on reaches nothing. */
export const ofSessionsAlone = (): AppError =>
  new AppError(
    'not_found',
    'Other servers pass on what is about a session of this one, and nothing else.',
  );
