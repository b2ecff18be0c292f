import { Global, Module } from '@nestjs/common';
import { OtherSessions } from './other-sessions.js';
import { PeerWatch } from './peer-watch.js';
import { SessionServers } from './session-servers.js';

const services = [OtherSessions, PeerWatch, SessionServers];

/** Which server has which session, for every module above the logs. */
@Global()
@Module({ providers: services, exports: services })
export class PeersModule {}
