import { newEvent, type ApprovalMode, type Event } from '@belay/protocol';
import { until } from '@belay/testing';
import { ApprovalService } from '../approvals/approval.service.js';
import { RulesStore } from '../approvals/rules.store.js';
import type { TestLogs } from './logs.js';

/** The approvals of a server on an open database, as after its start. */
export class ApprovalBench {
  readonly rules: RulesStore;
  readonly approvals: ApprovalService;

  constructor(private readonly logs: TestLogs) {
    this.rules = new RulesStore(logs.database, logs.log);
    this.approvals = new ApprovalService(logs.log, logs.store, this.rules);
    this.approvals.onModuleInit();
  }

  /** Resolves once this many questions of the session `s` are open. */
  async waits(count: number): Promise<void> {
    const isSo = async () => (await this.logs.log.summary('s')).waitingFor.length === count;
    await until(`${count} questions`, isSo);
  }

  /** Changes the mode of approvals, as a user does. */
  turnTo(session: string, mode: ApprovalMode): Promise<Event[]> {
    const change = newEvent('user', 'change', { args: { approvals: mode }, message: mode });
    return this.logs.log.append(session, [change]);
  }
}
