import { Injectable } from '@nestjs/common';
import { AppError, type agentCalls } from '@belay/protocol';
import type { z } from 'zod';
import { Machines } from '../machines/machines.js';
import { Sandboxes } from './sandboxes.js';

/** How long a check may take. */
const checkTimeoutMs = 10 * 60_000;

export type CheckRun = z.output<(typeof agentCalls)['check.run']['output']>;

/**
 * Runs a command in a session’s sandbox, with the user of the sandbox’s programs. The agent’s process starts it, which
 * no program of the sandbox can touch: see `separateFromPrograms` there.
 */
@Injectable()
export class CheckRunner {
  constructor(
    private readonly sandboxes: Sandboxes,
    private readonly machines: Machines,
  ) {}

  /** Throws `conflict` without a container, `timeout`, and `cancelled` when the signal is aborted. */
  async runCheck(session: string, command: string, signal: AbortSignal): Promise<CheckRun> {
    const { link, machine } = this.sandboxes.ofSession(session) ?? {};
    if (!link) throw new AppError('conflict', 'The session has no sandbox now.');
    if (machine !== undefined && this.machines.known(machine)?.kind !== 'container')
      throw new AppError(
        'conflict',
        'Checks are not run on bare machines: programs could forge them.',
      );
    return link.call('check.run', { command, timeoutMs: checkTimeoutMs }, { signal });
  }
}
