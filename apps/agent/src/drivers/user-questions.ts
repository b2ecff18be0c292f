import { randomUUID } from 'node:crypto';
import { newEvent, oneLine } from '@belay/protocol';
import { Mutex } from 'async-mutex';
import { isAnswer } from '../loop/conversation.js';
import { deliver } from '../loop/deliver.js';
import type { DriverOptions } from './agent-driver.js';

export interface UserQuestion {
  question: string;
  options: readonly string[];
}

/** The most answers that a question can offer; more become part of its text. */
const mostOptions = 9;

/** Questions of a program to the user, one at a time. */
export class UserQuestions {
  readonly #options: Pick<DriverOptions, 'log' | 'writer' | 'deliver'>;
  readonly #mutex = new Mutex();

  constructor(options: Pick<DriverOptions, 'log' | 'writer' | 'deliver'>) {
    this.#options = options;
  }

  /** The user’s answer. Rejects with the signal’s reason; the question is then closed. */
  ask(question: UserQuestion, signal: AbortSignal): Promise<string> {
    return this.#mutex.runExclusive(() => this.#ask(question, signal));
  }

  async #ask({ question: asked, options }: UserQuestion, signal: AbortSignal): Promise<string> {
    const { log, writer } = this.#options;
    const all = options.map((option) => option.slice(0, 300));
    const isLong = all.length > mostOptions;
    const question = (isLong ? [asked, ...all].join('\n- ') : asked).slice(0, 20_000);
    const id = `question-${randomUUID()}`;
    const args = { question, options: isLong ? [] : all };
    signal.throwIfAborted();
    writer.append({ source: 'agent', action: 'ask', args, message: oneLine(question), id });
    const end = (outcome: { ok: boolean; output: unknown }, message: string) =>
      writer.append(
        newEvent('agent', 'result', {
          args: { operation: 'ask', seconds: 0, ...outcome },
          message,
          id,
        }),
      );
    try {
      await writer.flush();
      for (;;) {
        const { seen, conversation } = log;
        const message = conversation.waiting.find(isAnswer);
        const known = { through: seen.others, signal };
        if (!message) await log.changed(signal);
        else if (await deliver({ log, deliverMessages: this.#options.deliver }, [message], known)) {
          end({ ok: true, output: { answer: message.text } }, 'The user answered.');
          return message.text;
        }
      }
    } catch (thrown) {
      const output = { code: 'cancelled', message: 'The question was withdrawn.' };
      end({ ok: false, output }, output.message);
      throw thrown;
    }
  }
}
