import type { Scope, ViewerRequests } from '@belay/protocol';
import type { AuditLog } from '../../access/audit-log.js';
import { assertMay, type Caller } from '../../access/caller.js';

type RequestName = keyof ViewerRequests;

/** What a request needs. */
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

/** What the caller of one connection may request; changes and refusals are recorded. */
export class ViewerAccess {
  /** Sessions to which it has sent keys: recorded once. */
  readonly #typedInto = new Set<string>();

  constructor(
    readonly caller: Caller,
    private readonly audit: AuditLog,
  ) {}

  /** Throws what a caller gets that may not. */
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
