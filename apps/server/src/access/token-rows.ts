import { callerId, idOfCaller, type TokenRow } from './token-row.js';

/** The stored tokens of this server, found by the hash of their secret and by their id. */
export class TokenRows {
  readonly #byHash = new Map<string, TokenRow>();
  readonly #byId = new Map<string, TokenRow>();

  get size(): number {
    return this.#byId.size;
  }

  all(): TokenRow[] {
    return [...this.#byId.values()];
  }

  withHash(hash: string): TokenRow | undefined {
    return this.#byHash.get(hash);
  }

  withId(id: string | undefined): TokenRow | undefined {
    return id === undefined ? undefined : this.#byId.get(id);
  }

  /** The user who made it, or the token that made it, by the id of the caller; null if that is not recorded. */
  userOf({ link_maker: maker }: TokenRow): string | null {
    const by = maker === null ? undefined : this.withId(idOfCaller(maker));
    return by ? this.userOf(by) : maker;
  }

  /** Whether a caller is this token, or was made by it, directly or through others. */
  isMadeThrough(caller: string, token: string): boolean {
    if (caller === callerId(token)) return true;
    const maker = this.withId(idOfCaller(caller))?.link_maker;
    return maker ? this.isMadeThrough(maker, token) : false;
  }

  add(row: TokenRow): void {
    this.#byHash.set(row.hash, row);
    this.#byId.set(row.id, row);
  }

  /** False if it is not there any more with this secret. */
  delete({ hash, id }: TokenRow): boolean {
    return this.#byHash.delete(hash) && this.#byId.delete(id);
  }
}
