import { Global, Module } from '@nestjs/common';
import { AuditLog } from './audit-log.js';
import { CallerEnds } from './caller-ends.js';
import { LatestUploads } from './latest-uploads.js';
import { RestrictedSessions } from './restricted-sessions.js';
import { SessionOwners } from './session-owners.js';
import { TokensStore } from './tokens.store.js';
import { UsersStore } from './users.store.js';
import { ViewerLinks } from './viewer-links.js';

const services = [
  AuditLog,
  CallerEnds,
  LatestUploads,
  RestrictedSessions,
  SessionOwners,
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
