import { Global, Module } from '@nestjs/common';
import { AuditLog } from './audit-log.js';
import { CallerEnds } from './caller-ends.js';
import { SessionOwners } from './session-owners.js';
import { TokensStore } from './tokens.store.js';
import { UsersStore } from './users.store.js';
import { ViewerLinks } from './viewer-links.js';

/** Access rights, available to every other module of the server. */
@Global()
@Module({
  providers: [AuditLog, CallerEnds, SessionOwners, TokensStore, UsersStore, ViewerLinks],
  exports: [AuditLog, CallerEnds, SessionOwners, TokensStore, UsersStore, ViewerLinks],
})
export class AccessModule {}
