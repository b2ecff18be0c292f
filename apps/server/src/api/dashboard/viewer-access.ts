import type { Scope, ViewerRequests } from '@belay/protocol';
import type { AuditLog } from '../../access/audit-log.js';
import { assertMay, type Caller } from '../../access/caller.js';

type RequestName = keyof ViewerRequests;

/** The scope that each request needs. */
const needs: Record<RequestName, Scope> = {
  watch: 'view',
  unwatch: 'view',
  fleet: 'view',
  evaluations: 'view',
  'browser.watch': 'view',
  'terminal.keys': 'operate',
  'terminal.fit': 'operate',
  'terminal.hold': 'operate',
  'terminal.open': 'operate',
};

/** The rights of one connection’s caller; changes and refusals are audited. */
export class ViewerAccess {
  /** Sessions that it has sent keys to; each is audited once. */
  readonly #typedInto = new Set<string>();

  constructor(
    readonly caller: Caller,
    private readonly audit: AuditLog,
  ) {}

  /** Throws when the caller may not do this. */
  check(action: RequestName, session?: string): void {
    this.audit.refusals(this.caller, { action, session }, () =>
      assertMay(this.caller, needs[action], session),
    );
  }

  async run(
    action: RequestName,
    session: string | undefined,
    work: () => Promise<void>,
  ): Promise<void> {
    this.check(action, session);
    if (this.#isAudited(action, session))
      await this.audit.run(this.caller, { action, session }, work);
    else await work();
  }

  #isAudited(action: RequestName, session: string | undefined): boolean {
    // The size of a view changes nothing.
    if (needs[action] === 'view' || action === 'terminal.fit') return false;
    if (action !== 'terminal.keys' || session === undefined) return true;
    const isFirst = !this.#typedInto.has(session);
    this.#typedInto.add(session);
    return isFirst;
  }
}
