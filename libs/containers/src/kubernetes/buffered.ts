/** Values of a callback as an iterable: in order, until the end, which may be an error. */
export class Buffered<T> implements AsyncIterable<T> {
  readonly #values: T[] = [];
  #end: { error: unknown } | undefined;
  #wake = Promise.withResolvers<void>();

  push(value: T): void {
    this.#values.push(value);
    this.#wake.resolve();
  }

  /** No value follows; null or undefined for an end without an error. */
  end(error: unknown): void {
    this.#end ??= { error };
    this.#wake.resolve();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<T> {
    for (;;) {
      for (let value = this.#values.shift(); value !== undefined; value = this.#values.shift())
        yield value;
      if (this.#end?.error) throw this.#end.error;
      if (this.#end) return;
      await this.#wake.promise;
      this.#wake = Promise.withResolvers();
    }
  }
}
