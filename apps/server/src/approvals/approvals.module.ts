import { Module } from '@nestjs/common';
import { ApprovalService } from './approval.service.js';
import { ApprovedCalls } from './approved-calls.js';
import { LoggedCalls } from './logged-calls.js';
import { RulePreviews } from './rule-preview.js';
import { RulesStore } from './rules.store.js';

@Module({
  providers: [ApprovalService, ApprovedCalls, LoggedCalls, RulesStore, RulePreviews],
  exports: [ApprovalService, ApprovedCalls, RulesStore, RulePreviews],
})
export class ApprovalsModule {}
