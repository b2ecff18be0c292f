import { Global, Module } from '@nestjs/common';
import { PeerWatch } from './peer-watch.js';
import { SessionServers } from './session-servers.js';

/** Which server has which session, for every module above the logs. */
@Global()
@Module({ providers: [PeerWatch, SessionServers], exports: [PeerWatch, SessionServers] })
export class PeersModule {}
