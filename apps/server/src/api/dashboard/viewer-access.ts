import { viewerRequests, type ViewerRequests } from '@belay/protocol';
import type { AuditLog } from '../../access/audit-log.js';
import { assertMay, type Caller } from '../../access/caller.js';

type RequestName = keyof ViewerRequests;

/** The rights of one connection’s caller; changes and refusals are audited. */
export class ViewerAccess {
  /** Requests that are recorded once for each session. */
  readonly #recorded = new Set<string>();

  constructor(
    readonly caller: Caller,
    private readonly audit: AuditLog,
  ) {}

  /** Throws when the caller may not do this. */
  check(action: RequestName, session?: string): void {
    this.audit.refusals(this.caller, { action, session }, () =>
      assertMay(this.caller, viewerRequests[action].scope, session),
    );
  }

  async run<T>(
    action: RequestName,
    session: string | undefined,
    work: () => Promise<T>,
  ): Promise<T> {
    this.check(action, session);
    return this.#isAudited(action, session)
      ? this.audit.run(this.caller, { action, session }, work)
      : work();
  }

  /** Passes it on to the server of the session, which records what it answers. */
  async passOn<T>(action: RequestName, session: string, work: () => Promise<T>): Promise<T> {
    this.check(action, session);
    try {
      return await work();
    } catch (error) {
      if (this.#isAudited(action, session, 'unanswered'))
        this.audit.failure(this.caller, { action, session }, error);
      throw error;
    }
  }

  #isAudited(action: RequestName, session: string | undefined, outcome = ''): boolean {
    const request = viewerRequests[action];
    if (!('audit' in request)) return false;
    if (request.audit === 'always') return true;
    const key = `${action} ${session} ${outcome}`;
    const isFirst = !this.#recorded.has(key);
    this.#recorded.add(key);
    return isFirst;
  }
}
