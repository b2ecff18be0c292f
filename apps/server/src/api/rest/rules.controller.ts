import { api, type Rule, type RulePreview } from '@belay/protocol';
import { Req } from '@nestjs/common';
import type { Request } from 'express';
import { sees, seesAll } from '../../access/caller.js';
import { RulePreviews } from '../../approvals/rule-preview.js';
import { RulesStore } from '../../approvals/rules.store.js';
import { callerOf } from '../auth/access.guard.js';
import { RestController, type RouteInputs } from './rest-controller.js';

type Inputs = RouteInputs<typeof api.rules>;

@RestController(api.rules)
export class RulesController {
  constructor(
    private readonly rules: RulesStore,
    private readonly previews: RulePreviews,
  ) {}

  /** Leaves out rules of sessions that the caller does not see, and for one that sees only some, all others. */
  async list(_: unknown, @Req() request: Request): Promise<Rule[]> {
    const caller = callerOf(request);
    const rules = await this.rules.list();
    return rules.filter(({ session }) =>
      session === undefined ? seesAll(caller) : sees(caller, session),
    );
  }

  create({ body }: Inputs['create']): Promise<Rule> {
    return this.rules.create(body);
  }

  preview({ body }: Inputs['preview'], @Req() request: Request): Promise<RulePreview> {
    return this.previews.preview(body, callerOf(request));
  }

  remove({ params }: Inputs['remove']): Promise<void> {
    return this.rules.remove(params.rule);
  }
}
