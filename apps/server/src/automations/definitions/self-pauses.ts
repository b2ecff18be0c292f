import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../access/audit-log.js';
import { byItself } from './by-itself.js';
import { AutomationsStore } from './automations.store.js';
import type { SavedAutomation } from './saved-automation.js';

/** Pauses automations that cannot go on by themselves, until a user has done what `why` says. */
@Injectable()
export class SelfPauses {
  constructor(
    private readonly automations: AutomationsStore,
    private readonly audit: AuditLog,
  ) {}

  async pause(automation: Pick<SavedAutomation, 'id' | 'name'>, why: string): Promise<void> {
    const { id, name } = automation;
    await this.automations.setState(id, 'broken', why);
    this.audit.record({
      ...byItself(automation),
      action: 'automations.pause',
      subject: `${name}: ${why}`,
      outcome: 'ok',
    });
  }
}
