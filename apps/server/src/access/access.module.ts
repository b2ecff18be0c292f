import { Global, Module } from '@nestjs/common';
import { AuditLog } from './audit-log.js';
import { CallerEnds } from './caller-ends.js';
import { SessionOwners } from './session-owners.js';
import { TokensStore } from './tokens.store.js';
import { UsersStore } from './users.store.js';
import { ViewerLinks } from './viewer-links.js';

/** Who may do what; every other module of the server may ask. */
@Global()
@Module({
  providers: [AuditLog, CallerEnds, SessionOwners, TokensStore, UsersStore, ViewerLinks],
  exports: [AuditLog, CallerEnds, SessionOwners, TokensStore, UsersStore, ViewerLinks],
})
export class AccessModule {}
