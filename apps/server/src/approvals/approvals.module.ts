import { Module } from '@nestjs/common';
import { ApprovalService } from './approval.service.js';
import { RulePreviews } from './rule-preview.js';
import { RulesStore } from './rules.store.js';

@Module({
  providers: [ApprovalService, RulesStore, RulePreviews],
  exports: [ApprovalService, RulesStore, RulePreviews],
})
export class ApprovalsModule {}
