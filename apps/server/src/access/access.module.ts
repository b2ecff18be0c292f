import { Global, Module } from '@nestjs/common';
import { AuditLog } from './audit-log.js';
import { BareSessions } from './bare-sessions.js';
import { CallerEnds } from './caller-ends.js';
import { SessionOwners } from './session-owners.js';
import { SignedInSessions } from './signed-in-sessions.js';
import { TokensStore } from './tokens.store.js';
import { UsersStore } from './users.store.js';
import { ViewerLinks } from './viewer-links.js';

const services = [
  AuditLog,
  BareSessions,
  CallerEnds,
  SessionOwners,
  SignedInSessions,
  TokensStore,
  UsersStore,
  ViewerLinks,
];

/** Access rights, available to every other module of the server. */
@Global()
@Module({
  providers: services,
  exports: services,
})
export class AccessModule {}
