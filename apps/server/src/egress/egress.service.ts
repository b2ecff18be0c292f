import { Injectable } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import type { RopeStream } from '@belay/rope';
import { ApprovalService } from '../approvals/approval.service.js';
import { EventLog } from '../sessions/event-log.js';

/** Connections out of the sandboxes: checked against the session's policy, then piped both ways. */
@Injectable()
export class EgressService {
  constructor(
    readonly events: EventLog,
    readonly approvals: ApprovalService,
  ) {}

  /**
   * Resolves once the connection is open; bytes then flow until both sides have ended.
   * Throws `AppError('rejected')` for a refused host, `unavailable` when it cannot be reached.
   */
  async connect(
    _session: string,
    _target: { host: string; port: number },
    _stream: RopeStream,
  ): Promise<void> {
    throw new AppError('rejected', 'Egress is not there yet.');
  }
}
