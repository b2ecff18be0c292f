import { Module } from '@nestjs/common';
import { ApprovalService } from './approval.service.js';

@Module({ providers: [ApprovalService], exports: [ApprovalService] })
export class ApprovalsModule {}
