import { Injectable } from '@nestjs/common';
import {
  AppError,
  type ApprovalAnswer,
  type ApprovalRequest,
  type ApprovalVerdict,
} from '@belay/protocol';

@Injectable()
export class ApprovalService {
  /** Answers when it is decided. The same request asked again joins the one that waits. */
  request(
    session: string,
    request: ApprovalRequest,
    signal: AbortSignal,
  ): Promise<ApprovalVerdict> {
    throw new AppError('internal', `Not yet: ${session} ${request.id} ${signal.aborted}`);
  }

  /** A person's answer; `not_found` when no such question waits. */
  answer(session: string, call: string, answer: ApprovalAnswer): Promise<void> {
    throw new AppError('internal', `Not yet: ${session} ${call} ${answer.verdict}`);
  }
}
