/** A reading that many ask for at once: one that begins after the last of them has asked is enough for all. */
export class SharedReading<T> {
  #underWay: Promise<unknown> = Promise.resolve();
  #next: Promise<T> | undefined;

  constructor(private readonly read: () => Promise<T>) {}

  /** Resolves with what is read after this call. */
  get(): Promise<T> {
    return (this.#next ??= this.#readNext());
  }

  async #readNext(): Promise<T> {
    await this.#underWay;
    this.#next = undefined;
    const reading = this.read();
    this.#underWay = reading.catch(() => undefined);
    return reading;
  }
}
