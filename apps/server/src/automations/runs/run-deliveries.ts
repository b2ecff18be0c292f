import { Injectable } from '@nestjs/common';
import { isEvent, type RunReport } from '@belay/protocol';
import { EventLog } from '../../logs/event-log.js';
import { Clock } from '../clock.js';
import { Outgoing } from '../out/outgoing.js';
import { RunMaterials } from '../trust/run-materials.js';
import { failureSignature } from './failure-signature.js';
import { doneCodes, isWithoutChange } from './run-outcome.js';
import { lostRights, type StepResult } from './run-step.js';
import type { StoredRun } from './runs.store.js';

/** How long until what the host did not take is looked at again; when it is sent again is noted with each item. */
const lookAgainMs = 15_000;

/** Sends what a run has to say at its end, and then ends it with what was stored. */
@Injectable()
export class RunDeliveries {
  /** The runs whose last words are planned, with the time before which nothing is sent again. */
  readonly #planned = new Map<string, Date>();

  constructor(
    private readonly log: EventLog,
    private readonly materials: RunMaterials,
    private readonly outgoing: Outgoing,
    private readonly clock: Clock,
  ) {}

  async step(run: StoredRun, report: RunReport | null): Promise<StepResult> {
    const now = this.clock.now();
    const next = this.#planned.get(run.id);
    if (next && next > now) return { at: next };
    if (!(await this.materials.actorStillMay(run))) return { end: lostRights };
    if (!next) await this.outgoing.planEnd(run, report);
    const { done, failed, nextAt } = await this.outgoing.deliver(run);
    const at = nextAt ?? new Date(now.getTime() + lookAgainMs);
    this.#planned.set(run.id, at);
    if (!done) return { at };
    const code = (await this.#hasAnswered(run)) ? 'answered' : (run.code ?? 'nothing');
    const why = run.why ?? '';
    if (!doneCodes.has(code))
      return { end: { state: 'failed', code, why, signature: await this.#signatureOf(run) } };
    if (failed !== null) return { end: { state: 'failed', code: 'outgoing', why: failed } };
    return { end: { state: 'done', code, why, stuck: stuckReason(run) } };
  }

  forget(run: string): void {
    this.#planned.delete(run);
  }

  async #hasAnswered({ id, code }: StoredRun): Promise<boolean> {
    if (code !== 'nothing') return false;
    const sent = await this.outgoing.list(id);
    return sent.some(({ kind, state }) => state === 'sent' && answers.has(kind));
  }

  /** Of failures that a further run would only repeat. */
  async #signatureOf({ code, session, result }: StoredRun): Promise<string | undefined> {
    if (code === 'budget') return 'budget';
    if (code !== 'check' || session === null) return undefined;
    const { check } = await this.log.summary(session);
    const after = (check?.seq ?? 1) - 1;
    const [event] = check?.seq ? await this.log.read(session, { after, limit: 1 }) : [];
    const output = event && isEvent(event, 'check') ? event.args.output : '';
    return failureSignature(result?.checkExit ?? null, output);
  }
}

const answers: ReadonlySet<string> = new Set(['comment', 'review', 'reply']);

/** An answer is an outcome, but without a change the next run would only give it again. */
function stuckReason({ definition, code, why, result }: StoredRun): string | undefined {
  if (code === 'stuck') return why ?? 'It is stuck.';
  return result && isWithoutChange(definition, result) ? 'It changed no file.' : undefined;
}
