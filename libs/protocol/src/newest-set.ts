/** A set of the values that were added last, at most so many: each further one takes the place of the oldest. */
export class NewestSet<T> extends Set<T> {
  readonly #most: number;

  constructor(most: number) {
    super();
    this.#most = most;
  }

  override add(value: T): this {
    this.delete(value);
    for (const oldest of this) {
      if (this.size < this.#most) break;
      this.delete(oldest);
    }
    return super.add(value);
  }
}
