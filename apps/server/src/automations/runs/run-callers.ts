import { Injectable } from '@nestjs/common';
import { includesScope } from '@belay/protocol';
import { automationCallerPrefix } from '../../access/assert-may-change-automations.js';
import { ownerCaller, seesAll, userOf, type Caller } from '../../access/caller.js';
import { RestrictedSessions } from '../../access/restricted-sessions.js';
import { SessionOwners } from '../../access/session-owners.js';
import { TokensStore } from '../../access/tokens.store.js';
import { UsersStore } from '../../access/users.store.js';
import type { SavedAutomation } from '../definitions/saved-automation.js';

/** The callers as which automations begin sessions: no token and no login yields one. */
@Injectable()
export class RunCallers {
  constructor(
    private readonly users: UsersStore,
    private readonly tokens: TokensStore,
    private readonly owners: SessionOwners,
    private readonly restricted: RestrictedSessions,
  ) {}

  /**
   * Sees the sessions that the automation began, also before a restart, and may operate them. Undefined when the owner
   * exists no longer, or may not begin sessions any more.
   */
  callerOf({ id, name, owner: ownerId }: SavedAutomation): Caller | undefined {
    const owner = this.ownerOf(ownerId);
    if (!owner || !includesScope(owner.scope, 'operate') || !owner.begins) return undefined;
    const own = `${automationCallerPrefix}${id}`;
    return {
      id: own,
      label: name,
      scope: 'operate',
      sessions: this.owners.of(own),
      begins: true,
      restricted: this.restricted,
      expires: null,
      via: { api: 'automation', address: undefined },
      user: userOf(owner),
    };
  }

  /** A caller that sees all sessions; undefined for one that exists no longer, or does not. */
  ownerOf(id: string): Caller | undefined {
    if (id === ownerCaller.id) return ownerCaller;
    const owner = this.users.caller(id) ?? this.tokens.caller(id);
    return owner && seesAll(owner) ? owner : undefined;
  }
}
