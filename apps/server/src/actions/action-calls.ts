import { Injectable } from '@nestjs/common';
import { AppError, type ActionOutput, type StartedAction } from '@belay/protocol';
import { ApprovedCalls, type ApprovedCall } from '../approvals/approved-calls.js';
import { TransientNotices } from '../logs/transient-notices.js';
import { ActionRunner } from './action-runner.js';
import { BackgroundCalls } from './background-calls.js';
import { OutputSender } from './output-sender.js';

/**
 * Calls of actions in sessions. The sandbox is not trusted: the call is read from the log, where a user made or
 * approved it, and runs once.
 */
@Injectable()
export class ActionCalls {
  constructor(
    private readonly calls: ApprovedCalls,
    private readonly runner: ActionRunner,
    private readonly live: TransientNotices,
    private readonly background: BackgroundCalls,
  ) {}

  /**
   * Runs a logged call once it is approved. A model’s call of an asynchronous action is only started. Throws what
   * `ApprovedCalls.runOnce`, `ActionRunner.run` and `BackgroundCalls.begin` throw.
   */
  async run(
    session: string,
    id: string,
    signal: AbortSignal,
  ): Promise<ActionOutput | StartedAction> {
    return this.calls.runOnce(session, id, {
      signal,
      work: async (call, ending) => {
        const action = actionOf(call);
        const { input, operation } = call;
        const run = (limit: AbortSignal) => this.#run(session, call, limit);
        // A user’s call waits for the result.
        if (!action.asynchronous || call.source !== 'agent') return run(ending);
        this.runner.check({ action, input });
        return this.background.begin({ session, id, operation: operation.name, run });
      },
    });
  }

  async #run(session: string, call: ApprovedCall, signal: AbortSignal): Promise<ActionOutput> {
    const { id, input } = call;
    const output = new OutputSender((text) => this.live.output(session, id, text));
    const onOutput = (text: string) => output.add(text);
    try {
      return await this.runner.run({ action: actionOf(call), input, session, signal, onOutput });
    } finally {
      output.end();
    }
  }
}

function actionOf({ operation, action }: ApprovedCall) {
  if (action) return action;
  throw new AppError('forbidden', `${operation.name} is not an installed action.`);
}
