import { AppError } from '@belay/protocol';

const perSession = 64 * 2 ** 20;
const inAll = 256 * 2 ** 20;

/** Limits the memory that bodies of requests take. */
export class BodyBudget {
  readonly #sessions = new Map<string, number>();
  #all = 0;

  /** The part of one request. Throws `unavailable` beyond a limit. */
  open(session: string): { take(bytes: number): void; release(): void } {
    let taken = 0;
    const add = (bytes: number): void => {
      const own = (this.#sessions.get(session) ?? 0) + bytes;
      taken += bytes;
      this.#all += bytes;
      if (own === 0) this.#sessions.delete(session);
      else this.#sessions.set(session, own);
    };
    return {
      take: (bytes) => {
        if ((this.#sessions.get(session) ?? 0) + bytes > perSession || this.#all + bytes > inAll)
          throw new AppError('unavailable', 'Too many large model requests are under way.');
        add(bytes);
      },
      release: () => add(-taken),
    };
  }
}
